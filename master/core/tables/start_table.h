// Starts of workers (common/model/worker_start.h): the last accepted one of each worker and state folder,
// lives whose start waits for that, and the unfinished runs that belong to starts.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/base/ids.h"
#include "common/model/worker_start.h"
#include "common/model/run.h"
#include "master/core/tables/id_set.h"
#include "master/core/tables/walk.h"
#include "master/core/time/timer_index.h"

namespace rota::master::core {

enum class StartTimer { Away };

/// Thread: the Scheduler's. State alone binds runs.
class StartTable {
 public:
  /// A state folder belongs to one start at a time, so one that came before the last is over for good.
  bool is_accepted(const model::WorkerKey& life, const std::string& start) const {
    const auto found = accepted_.find({life.id, std::string(model::home_of(life))});
    return found != accepted_.end() && found->second.key.start == start;
  }
  void accept(model::WorkerStart start) {
    model::WorkerStart& last = accepted_[{start.key.worker, start.home}];
    if (last.number < start.number) last = std::move(start);
  }

  /// Lives that have said what they hold, and whose start is not accepted yet.
  std::set<model::WorkerKey>& waiting() { return waiting_; }
  const std::set<model::WorkerKey>& waiting() const { return waiting_; }

  /// Unfinished runs that belong to any start of this worker.
  const IdSet<RunId>& runs_of(const std::string& worker) const {
    static const IdSet<RunId> kNone;
    const auto found = runs_.find(worker);
    return found == runs_.end() ? kNone : found->second;
  }
  auto workers_with_runs() const { return walk(runs_); }

  /// By worker id.
  TimerIndex<std::string, StartTimer>& timers() { return timers_; }
  const TimerIndex<std::string, StartTimer>& timers() const { return timers_; }

  /// See WorkerStartsKnown.
  bool may_fire() const { return may_fire_; }
  void set_may_fire(bool may) { may_fire_ = may; }
  /// The database went back: it may have forgotten starts that were accepted.
  bool is_doubtful() const { return is_doubtful_; }
  void set_doubtful(bool doubtful) { is_doubtful_ = doubtful; }

 private:
  friend class State;
  void bind(const std::string& worker, RunId run) { runs_[worker].insert(run); }
  void unbind(const std::string& worker, RunId run) {
    const auto found = runs_.find(worker);
    if (found == runs_.end()) return;
    found->second.erase(run);
    if (!found->second.empty()) return;
    runs_.erase(found);
    timers_.clear_all(worker);
  }

  std::map<std::pair<std::string, std::string>, model::WorkerStart> accepted_;  ///< by worker and home
  std::set<model::WorkerKey> waiting_;
  std::map<std::string, IdSet<RunId>> runs_;   ///< by worker; none is empty
  TimerIndex<std::string, StartTimer> timers_;
  bool may_fire_ = true;
  bool is_doubtful_ = false;
};

}  // namespace rota::master::core
