// ZooKeeper as a simulated world has it: several servers, one of which may be cut off from the others
// and go on answering reads, or lag behind; workers' nodes and candidates, each gone when the servers
// did not hear of its session for its timeout. While there is no quorum nothing expires.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/worker.h"
#include "common/zk/client.h"
#include "common/zk/lease_rules.h"

namespace rota::sim {

/// Thread: one.
class SimZookeeper {
 public:
  struct Node {
    model::WorkerInfo info;
    MonoTime expires{};
  };
  struct Candidate {
    std::size_t master = 0;
    MonoTime expires{};
  };
  struct Tree {
    std::map<model::WorkerKey, Node> nodes;
    std::map<std::string, Candidate> candidates;  ///< by name
    std::map<std::string, zk::Node> kept;         ///< persistent nodes by path
  };

  void set_up(std::size_t servers, std::int64_t first_sequence) {
    servers_.resize(servers);
    next_sequence_ = static_cast<std::int32_t>(first_sequence);
  }
  zk::LeaseTiming timing;              ///< of workers' sessions
  Millis master_session{4000};
  std::size_t server_count() const { return servers_.size(); }

  // --- for clients
  /// Whether this server answers reads; one that is cut off does so for a while.
  bool serves(std::size_t server, MonoTime now) const;
  /// Whether a write by this server is agreed on.
  bool agrees(std::size_t server) const { return up_ && !servers_[server].cut; }
  /// What a read by this server shows.
  const Tree& view(std::size_t server) const;
  /// What the servers agreed on; change it by a server that agrees.
  Tree& tree() { return tree_; }
  /// After a write: this server shows it.
  void catch_up(std::size_t server) { servers_[server].copy.reset(); }
  std::string add_candidate(std::size_t master, std::uint64_t tag, MonoTime now);
  void remove_node(const model::WorkerKey& key, MonoTime now);

  // --- faults
  bool is_up() const { return up_; }
  void go_down() { up_ = false; }
  /// Back again: every session counts anew.
  void come_up(MonoTime now);
  void cut(std::size_t server, MonoTime now);
  void lag(std::size_t server);
  void mend(std::size_t server);

  /// True when a worker's node went.
  bool expire(MonoTime now);

  // --- for the judges
  /// Since when, at the latest, no node of this worker stood for a moment; none if never.
  bool was_absent_since(std::size_t worker, MonoTime since) const;

 private:
  struct Server {
    bool cut = false;
    MonoTime cut_since{};
    std::optional<Tree> copy;   ///< shown instead of what was agreed on
  };

  bool up_ = true;
  Tree tree_;
  std::vector<Server> servers_{1};
  std::int32_t next_sequence_ = 1;
  std::map<std::size_t, MonoTime> last_absent_;
};

}  // namespace rota::sim
