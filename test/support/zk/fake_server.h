// An in-process stand-in for a ZooKeeper server: sessions, ephemeral and sequential nodes, one-shot
// watches; expiry and lost answers by command. It knows no time: a session expires when told.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/zk/client.h"

namespace rota::zk {

/// Thread: any. It must outlive its clients.
class FakeServer {
 public:
  enum class Op { Create, Remove, Get, Exists, Set, List, Sync };
  /// Answer: the request takes effect, its answer is lost. Request: it never arrives. Late: it is
  /// under way while the answer is given up, and takes effect at the next sync of any session.
  enum class Loss { Answer, Request, Late };

  FakeServer();
  ~FakeServer();

  ClientFactory factory();

  /// The next operation of this kind, of any session, is answered "unknown".
  void lose_next(Op op, Loss loss);
  /// Ends the session as the server would: its nodes go, its client is told.
  void expire(SessionId session);
  void expire_all();
  /// False: every operation is answered "unknown", without effect, and clients are told they are
  /// cut off; sessions and their nodes stay. True: they are connected again.
  void set_reachable(bool reachable);
  /// The sequence that the next sequential node in this folder gets.
  void set_next_sequence(const std::string& folder, std::int32_t next);
  /// By hand, as an operator with a shell would.
  void delete_by_hand(const std::string& path);

  std::vector<std::string> children(const std::string& path) const;
  std::vector<SessionId> sessions() const;
  int operations(Op op) const;

 private:
  friend class FakeClient;
  struct Entry {
    Node node;
    std::int32_t next_sequence = 0;
  };
  struct Peer {
    Credentials credentials;
    Millis timeout{0};
    EventHandler handler;
    std::set<std::string> data_watches;
    std::set<std::string> child_watches;
  };

  // All below: with the lock held.
  /// Counts the operation and lets it take effect, unless its session is over or it is to be lost.
  Result<void> admit(SessionId session, Op op, const std::function<void()>& effect,
                     const std::function<void()>& late);
  std::string place(const std::string& path, const std::string& data, CreateMode mode,
                    SessionId session);
  void erase(const std::string& path);
  void fire_data(const std::string& path, Event::Change change);
  void fire_children(const std::string& folder, Event::Change change);
  void end(SessionId session, bool tell);
  bool has_children(const std::string& path) const;
  std::vector<std::string> children_locked(const std::string& path) const;
  static std::string parent_of(const std::string& path);

  mutable std::mutex mutex_;
  std::map<std::string, Entry> nodes_;
  std::map<SessionId, Peer> peers_;
  std::map<Op, std::vector<Loss>> losses_;
  std::map<Op, int> operations_;
  std::vector<std::function<void()>> late_;
  SessionId next_session_ = 0x1000;
  std::int64_t zxid_ = 0;
  bool reachable_ = true;
};

}  // namespace rota::zk
