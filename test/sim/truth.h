// What really happens in a simulated world, whatever anybody believes: which attempts live, and how they
// ended. Every start is judged: P4 (one live attempt per run, and per job that may not overlap), P5
// (never again after a loss), P6 (row first, once), P12 (no rerun of what is known to have succeeded).
#pragma once

#include <map>
#include <set>
#include <set>
#include <string>

#include "common/model/job.h"
#include "common/model/worker.h"
#include "sim_store.h"
#include "sim_zookeeper.h"

namespace rota::sim {

/// Thread: one.
class Truth {
 public:
  struct Start {
    model::AttemptKey key;
    JobId job;
    model::Overlap overlap = model::Overlap::Allow;
    model::LossPolicy loss = model::LossPolicy::Rerun;
    std::int32_t loss_most = model::kLossMost;
    std::size_t worker = 0;
    MonoTime at{};
  };

  Truth(const SimStore& store, const SimZookeeper& zookeeper, Marks& marks)
      : store_(store), zookeeper_(zookeeper), marks_(marks) {}

  /// An attempt begins to live. Empty, or what it breaks.
  std::string begin(const Start& start);
  /// It ends by itself or by its warden. Empty, or what it breaks: an attempt that was followed while its host
  /// stood still must end as soon as that goes on.
  std::string end(model::AttemptKey key, MonoTime now);
  /// It is gone with its host.
  void forget(model::AttemptKey key);
  /// Nothing of this host runs until then.
  void stand_still(std::size_t worker, MonoTime until) { still_until_[worker] = until; }
  /// Attempts so far.
  std::size_t begun() const { return ever_.size(); }
  bool has_begun(model::AttemptKey key) const { return ever_.contains(key); }
  bool lives(model::AttemptKey key) const { return live_.contains(key); }

  /// The operator says that this host's worker is dead: what has begun there so far may be followed by others.
  void note_confirmed(std::size_t worker);
  /// An attempt ended and its worker knows how: the store must know it in the end (P12).
  void note_outcome(model::AttemptKey key, model::RunState state) { outcomes_[key] = ended_[key] = state; }
  /// The disk that held it is gone before it was reported.
  void forget_outcome(model::AttemptKey key) { outcomes_.erase(key); }
  /// The servers of ZooKeeper agreed on a change.
  void note_node(const zk::NodeTree::Change& change, MonoTime now);
  /// They lost their data: who stands now is who is in the tree.
  void note_loss(MonoTime now);
  /// Once all is healed and quiet. Empty, or what got lost.
  std::string judge_outcomes() const;

 private:
  std::string judge_beside(const Start& start) const;
  std::string judge_before(const Start& start) const;
  bool was_given_up_unasked(model::AttemptKey key) const;
  bool stood_still_beside(model::AttemptKey other, MonoTime now) const;
  bool was_absent_since(std::size_t worker, MonoTime since) const;

  const SimStore& store_;
  const SimZookeeper& zookeeper_;
  Marks& marks_;
  std::map<model::AttemptKey, JobId> live_;
  std::map<std::size_t, MonoTime> still_until_;  ///< hosts that stand still, or stood
  mutable std::set<model::AttemptKey> followed_;  ///< alive, and beside another while its host stood still
  std::map<model::AttemptKey, Start> ever_;
  std::map<model::AttemptKey, model::RunState> ended_;
  std::set<model::AttemptKey> confirmed_;         ///< begun on workers that were then said to be dead
  std::map<std::string, std::size_t> standing_;   ///< workers' nodes, and whose they are
  std::map<std::size_t, MonoTime> last_absent_;   ///< no node of this worker stood for a moment
  std::map<model::AttemptKey, model::RunState> outcomes_;  ///< of those that a disk holds, or the store
};

}  // namespace rota::sim
