// What really happens in a simulated world, whatever its processes believe: which attempts are alive, and how
// they ended. Judges every start: P4 (one live attempt per run, and as many per job as its concurrency), P5
// (never again after a loss), P6 (row first, once), P12 (no rerun of a known success), P41 (no more tokens than
// there are), P48 (what lives on a worker takes no more of it than it has).
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

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
    std::int32_t at_once = 0;          ///< so many of its job may live; 0: no bound
    model::LossPolicy loss = model::LossPolicy::Rerun;
    std::int32_t loss_most = model::kLossMost;
    std::map<std::pair<std::string, std::string>, std::int32_t> uses;  ///< tokens of semaphores
    std::size_t worker = 0;
    model::Demand demand = {};
    std::int32_t slots = 0;            ///< that its worker has
    model::Amounts offers = {};        ///< the same, beside them
    MonoTime at{};
  };

  Truth(const SimStore& store, const SimZookeeper& zookeeper, Marks& marks)
      : store_(store), zookeeper_(zookeeper), marks_(marks) {}

  /// An attempt starts. Empty, or what it breaks.
  std::string begin(const Start& start);
  /// It ends by itself or by its warden. Empty, or what it breaks: an attempt that was replaced while its host
  /// stood still must end as soon as the host goes on.
  std::string end(model::AttemptKey key, MonoTime now);
  /// It died with its host.
  void forget(model::AttemptKey key);
  /// No process of this host runs until then.
  void stand_still(std::size_t worker, MonoTime until) { still_until_[worker] = until; }
  /// Attempts so far.
  std::size_t begun() const { return ever_.size(); }
  bool has_begun(model::AttemptKey key) const { return ever_.contains(key); }
  bool lives(model::AttemptKey key) const { return live_.contains(key); }

  /// The operator confirms this host's worker as dead: attempts that began there so far may be replaced.
  void note_confirmed(std::size_t worker);
  /// An attempt ended and its worker knows how: the store must know it in the end (P12).
  void note_outcome(model::AttemptKey key, model::RunState state) { outcomes_[key] = ended_[key] = state; }
  /// The disk that held it is gone before it was reported.
  void forget_outcome(model::AttemptKey key) { outcomes_.erase(key); }
  /// ZooKeeper's servers agreed on a change.
  void note_node(const zk::NodeTree::Change& change, MonoTime now);
  /// They lost their data: now only the nodes of the tree exist.
  void note_loss(MonoTime now);
  /// Call it once everything is healed and quiet. Empty, or what was lost.
  std::string judge_outcomes() const;

 private:
  std::string judge_beside(const Start& start) const;
  std::string judge_before(const Start& start) const;
  std::string judge_demand(const Start& start) const;
  std::string judge_tokens(const Start& start) const;
  bool was_given_up_unasked(model::AttemptKey key) const;
  bool stood_still_beside(model::AttemptKey other, MonoTime now) const;
  bool was_absent_since(std::size_t worker, MonoTime since) const;
  bool is_standing(std::size_t worker) const;

  const SimStore& store_;
  const SimZookeeper& zookeeper_;
  Marks& marks_;
  std::map<model::AttemptKey, JobId> live_;
  std::map<std::size_t, MonoTime> still_until_;  ///< hosts that stand still, or stood
  mutable std::set<model::AttemptKey> followed_;  ///< alive, beside another one while its host stood still
  std::map<model::AttemptKey, Start> ever_;
  std::map<model::AttemptKey, model::RunState> ended_;
  std::set<model::AttemptKey> confirmed_;         ///< started on workers that were then confirmed dead
  std::map<std::string, std::size_t> standing_;   ///< workers' nodes, and their hosts
  std::map<std::size_t, MonoTime> last_absent_;   ///< the last moment without a node of this worker
  std::map<model::AttemptKey, model::RunState> outcomes_;  ///< outcomes that are on a disk or in the store
};

}  // namespace rota::sim
