// The ZooKeeper of a simulated world. It has several servers; one may be cut off from the others and still
// answer reads, or lag behind. A session is over when the servers got nothing from it for its timeout; its
// nodes and watches end with it. Without a quorum nothing expires. All data may be lost, or replaced by an
// older copy: the numbers of changes then go back too, and a handle that has seen more than the servers know
// is refused.
// test/contract/agreement compares its answers and events with those of a real server.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/zk/client.h"
#include "common/zk/lease_rules.h"
#include "test/support/zk/node_tree.h"

namespace rota::sim {

/// Thread: one.
class SimZookeeper {
 public:
  /// Gets each change that the servers agree on.
  using Witness = std::function<void(const zk::NodeTree::Change&)>;

  void set_up(std::size_t servers) { servers_.resize(servers); }
  void set_witness(Witness witness) { witness_ = std::move(witness); }
  zk::LeaseTiming timing;              ///< of workers' sessions
  Millis master_session{4000};
  std::size_t server_count() const { return servers_.size(); }

  // --- sessions; the servers agree on every write through one of these
  /// At a server in the quorum. `handler` gets watch events and the session's end until it is detached.
  zk::SessionId begin_session(std::size_t server, Millis timeout, MonoTime now, zk::EventHandler handler);
  /// By its holder, or by a process with its credentials; the holder is told, unless it is detached.
  void end_session(zk::SessionId session);
  bool is_alive(zk::SessionId session) const { return sessions_.contains(session); }
  Millis timeout_of(zk::SessionId session) const;
  /// By a handle that has seen changes up to `seen`; whether the servers accept it.
  bool admits(std::int64_t seen) const { return up_ && seen <= tree_.zxid(); }
  /// By a new handle without armed watches. False when the session is over.
  bool attach(zk::SessionId session, std::size_t server, zk::EventHandler handler);
  /// Removes the handler; the session stays.
  void detach(zk::SessionId session);
  /// The servers got a message from it. False when it is over.
  bool touch(zk::SessionId session, MonoTime now);
  /// Its client moves to another server, and gets the missed events there.
  void move(zk::SessionId session, std::size_t server);

  Result<std::string> create(zk::SessionId session, const std::string& path, const std::string& data,
                             zk::CreateMode mode);
  Result<void> remove(const std::string& path, std::int32_t version = zk::kAnyVersion);
  Result<zk::NodeStat> set(const std::string& path, const std::string& data, std::int32_t version = zk::kAnyVersion);
  void watch(zk::SessionId session, const std::string& path, bool is_there);
  void watch_children(zk::SessionId session, const std::string& folder);

  // --- servers
  /// Whether this server answers reads; a cut-off server does so for a while.
  bool serves(std::size_t server, MonoTime now) const;
  /// Whether the servers agree on a write through this server.
  bool agrees(std::size_t server) const { return up_ && !servers_[server].cut; }
  /// The tree that a read at this server shows.
  const zk::NodeTree& view(std::size_t server) const;
  /// The tree that the servers agreed on.
  const zk::NodeTree& tree() const { return tree_; }
  void set_next_sequence(const std::string& folder, std::int32_t next) { tree_.set_next_sequence(folder, next); }
  /// After a write: this server shows it, and sends its sessions the missed events.
  void catch_up(std::size_t server);

  // --- faults
  bool is_up() const { return up_; }
  void go_down() {
    up_ = false;
    ++breaks_;
  }
  /// How often all connections broke: a different number means that the caller was cut off, even if only shortly.
  int breaks() const { return breaks_; }
  /// Comes back: the time of every session starts again.
  void come_up(MonoTime now);
  void cut(std::size_t server, MonoTime now);
  void lag(std::size_t server);
  void mend(std::size_t server);
  /// All data and sessions are lost. Down or up; connected sessions are not told.
  void lose_data(WallTime now);
  /// Saves the present state; restores it. The time of the copy's sessions starts at the next come_up.
  void make_copy() { copy_ = Copy{tree_, sessions_}; }
  bool has_copy() const { return copy_.has_value(); }
  void put_copy_back(WallTime now);

  /// Ends the sessions whose time is over. Their holders learn it when they come back.
  void expire(MonoTime now);

 private:
  struct Server {
    bool cut = false;
    MonoTime cut_since{};
    std::optional<zk::NodeTree> copy;   ///< shown instead of the agreed tree
    std::vector<zk::NodeTree::Change> pending;   ///< agreed on since
  };
  struct Session {
    Millis timeout{0};
    MonoTime expires{};
    std::size_t server = 0;
    zk::EventHandler handler;
    zk::Watches watches;
  };

  struct Copy {
    zk::NodeTree tree;
    std::map<zk::SessionId, Session> sessions;
  };

  void go_back_to(Copy copy);
  zk::EventHandler drop(zk::SessionId session);
  void tell_changes();
  void tell_sessions_at(std::size_t server, const zk::NodeTree::Change& change);
  void tell(zk::SessionId id, const Session& session, const zk::NodeTree::Change& change) const;

  bool up_ = true;
  int breaks_ = 0;
  zk::NodeTree tree_;
  std::vector<Server> servers_{1};
  std::map<zk::SessionId, Session> sessions_;
  zk::SessionId last_session_ = 0x1000;
  std::optional<Copy> copy_;
  Witness witness_;
};

}  // namespace rota::sim
