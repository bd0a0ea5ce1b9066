// Breaks the core's state on purpose, as no function of its own can.
#pragma once

#include "master/core/scheduler.h"
#include "master/core/state.h"

namespace rota::master::core {

struct StateSurgery {
  static State& state_of(Scheduler& scheduler) { return *scheduler.state_; }
  /// Its next tick is in no order any more.
  static void lose_due(State& state, JobId job) {
    state.jobs().due_.erase({*state.find_job(job)->next_tick(), job});
  }
  /// Its worker has forgotten that it holds the run's attempt.
  static void lose_attempt(State& state, RunId run) {
    state.find_run(run)->life()->attempts_.erase(run);
  }
  /// No worker may take anything.
  static void close_all(State& state) { state.workers().open_.clear(); }
  /// The run does not know that it stands in its queue.
  static void forget_queue(State& state, RunId run) { state.find_run(run)->in_slot_queue_ = false; }
};

}  // namespace rota::master::core
