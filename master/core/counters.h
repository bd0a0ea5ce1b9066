// What the core has done in this Term, for the snapshot and the metrics.
#pragma once

#include <cstdint>
#include <map>

#include "common/base/histogram.h"
#include "common/model/run.h"

namespace rota::master::core {

struct Counters {
  std::int64_t ticks_fired = 0, ticks_skipped = 0, runs_recorded = 0, runs_finished = 0;
  std::int64_t tick_slices = 0;        ///< stretches of time that were too much for one batch
  std::int64_t dispatches = 0, redispatches = 0, refusals = 0, unclear_dispatches = 0;
  std::int64_t reports = 0, repeated_reports = 0, late_results = 0, retries = 0, losses = 0;
  std::int64_t proven_dead = 0, resent = 0;
  std::int64_t notes = 0, stale_notes = 0;
  std::int64_t renews = 0, renews_refused = 0, hellos = 0, adopted = 0, readopted = 0, cancels = 0;
  std::int64_t handed_over = 0;
  std::int64_t caught_up = 0;          ///< runs of late ticks that had their turn
  std::int64_t replaced = 0;           ///< runs that end, or were asked to, for a newer one of their job
  std::int64_t children = 0;           ///< names of child jobs for which it was decided at an end
  std::int64_t stuck = 0;              ///< runs behind which tick after tick was skipped
  std::int64_t holds = 0;              ///< workers that were excluded, or came and went too often
  std::int64_t warnings = 0;           ///< workers that began to get half of their share
  std::int64_t let_in_later = 0;       ///< workers that came back in a crowd
  std::int64_t notifications = 0, notifications_combined = 0, notifications_delivered = 0;
  std::int64_t scale_changes = 0;      ///< rows of wanted numbers of workers
  std::int64_t hook_calls = 0, hook_refusals = 0, hooks_given_up = 0;  ///< that ended; that failed
  std::int64_t late_told = 0;                     ///< expectations of jobs that were not met
  std::int64_t notifications_refused = 0, notifications_given_up = 0;  ///< refused: tries that failed
  std::map<model::RunState, std::int64_t> attempts_ended;  ///< by how they ended
  Histogram dispatch_latency = seconds_histogram();        ///< from its row to the worker's acceptance
};

}  // namespace rota::master::core
