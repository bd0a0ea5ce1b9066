// An in-process stand-in for a ZooKeeper server: sessions, ephemeral and sequential nodes, one-shot
// watches; expiry and lost answers on command; data that is lost or goes back. It has no clock: a session
// expires on command.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/zk/client.h"
#include "test/support/zk/node_tree.h"

namespace rota::zk {

/// Thread: any. It must outlive its clients.
class FakeServer {
 public:
  enum class Op { Create, Remove, Get, Exists, Set, List, Sync };
  /// Answer: the request takes effect, its answer is lost. Request: it never arrives. Late: the caller gives
  /// up while the request is under way; it takes effect at the next sync of any session.
  enum class Loss { Answer, Request, Late };

  FakeServer();
  ~FakeServer();

  ClientFactory factory();

  /// The next operation of this kind, of any session, is answered "unknown".
  void lose_next(Op op, Loss loss);
  /// Ends the session as the server would: its nodes vanish, its client is told.
  void expire(SessionId session);
  void expire_all();
  /// False: every operation is answered "unknown", without effect, and clients are told they are
  /// cut off; sessions and their nodes stay. True: they are connected again.
  void set_reachable(bool reachable);
  /// All data is lost, sessions too. Earlier handles have seen more than the server knows: it refuses each
  /// forever. A handle that attaches to an unknown session is told that it has expired.
  void wipe();
  /// Saves the present state, sessions too; restores it, with its effects on earlier handles.
  void make_copy();
  void restore_copy();
  /// The sequence that the next sequential node in this folder gets.
  void set_next_sequence(const std::string& folder, std::int32_t next);
  /// Does it by hand, like an operator with a shell.
  void delete_by_hand(const std::string& path);
  /// Copies an ephemeral node like a tool: the copy belongs to no session.
  void make_by_hand(const std::string& path, const std::string& data = "");

  std::vector<std::string> children(const std::string& path) const;
  std::vector<SessionId> sessions() const;
  int operations(Op op) const;
  /// Handles that could not be made because it was not reachable.
  int attempts_in_vain() const;

 private:
  friend class FakeClient;
  struct Peer {
    Credentials credentials;
    Millis timeout{0};
    int holder = 0;        ///< the handle that gets events; 0: none
    Watches watches;
  };
  struct Handle {
    SessionId session = 0;
    EventHandler handler;
    bool refused = false;  ///< it has seen changes that the server does not know
  };
  struct Copy {
    NodeTree tree;
    std::map<SessionId, Peer> peers;
  };

  // Everything below: with the lock held.
  /// Counts the operation and performs it, unless its session is over or the operation must be lost.
  Result<void> admit(int handle, Op op, const std::function<void()>& effect,
                     const std::function<void()>& late);
  /// Tells the watchers about the changes of the tree.
  void tell();
  void end(SessionId session, bool tell_owner);
  SessionState state_of(int handle) const;
  /// This handle does nothing any more; its session stays.
  void forget(int handle);
  void hear(const Peer& peer, const Event& event);
  void go_back_to(Copy copy);

  mutable std::mutex mutex_;
  NodeTree tree_;
  std::map<SessionId, Peer> peers_;
  std::map<int, Handle> handles_;       ///< all except closed ones
  int last_handle_ = 0;
  int in_vain_ = 0;
  Copy copy_;
  std::int64_t clock_ms_ = 0;           ///< advances with each loss of data
  std::map<Op, std::vector<Loss>> losses_;
  std::map<Op, int> operations_;
  std::vector<std::function<void()>> late_;
  SessionId next_session_ = 0x1000;
  bool reachable_ = true;
};

}  // namespace rota::zk
