// What really happens in a simulated world, whatever anybody believes: which attempts live. Every start
// is judged: P4 (one live attempt per run, and per job that may not overlap) and P6 (row first, once).
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "common/model/job.h"
#include "common/model/worker.h"
#include "sim_store.h"

namespace rota::sim {

/// Thread: one.
class Truth {
 public:
  Truth(const SimStore& store, Marks& marks) : store_(store), marks_(marks) {}

  /// An attempt begins to live. Empty, or what it breaks.
  std::string begin(model::AttemptKey key, JobId job, model::Overlap overlap);
  void end(model::AttemptKey key) { live_.erase(key); }
  bool lives(model::AttemptKey key) const { return live_.contains(key); }

  /// An attempt ended and its worker knows how: the store must know it in the end (P12).
  void note_outcome(model::AttemptKey key, model::RunState state) { outcomes_[key] = state; }
  /// Once all is healed and quiet. Empty, or what got lost.
  std::string judge_outcomes() const;

 private:
  const SimStore& store_;
  Marks& marks_;
  std::map<model::AttemptKey, JobId> live_;
  std::set<model::AttemptKey> ever_;
  std::map<model::AttemptKey, model::RunState> outcomes_;
};

}  // namespace rota::sim
