// Unfinished runs: their entries, the rows that go with the next batch, how many stand in each state, and
// when each must be looked at again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/run.h"
#include "common/model/worker.h"
#include "master/core/tables/walk.h"
#include "master/core/time/timer_index.h"

namespace rota::master::core {

/// How the sending of a run's present attempt stands, within this Term.
struct SendState {
  std::int32_t in_flight = 0;          ///< dispatches whose answer has not come
  bool unclear = false;                ///< a dispatch was answered Unknown: it may still arrive
  bool accepted = false;               ///< the worker said that it holds it
};

/// What a version of a job says of its runs; shared by all that were made of it.
using RulesPtr = std::shared_ptr<const model::JobRules>;

/// Where a run is (state, worker, number of its attempt, queue) changes by State's functions alone; what is
/// told of it is set here, by whoever decides it.
class RunEntry {
 public:
  RunEntry(model::Run row, RulesPtr rules) : row_(std::move(row)), rules_(std::move(rules)) {}

  SendState send;
  std::int32_t forgotten = 0;          ///< highest number of an attempt that a database which went back lacks
  bool is_new = false;                 ///< its row was not put into a batch yet
  bool timed_out = false;              ///< the leader's backstop asked for its end, and no drain before it
  bool handed_over = false;            ///< the deadline of its worker's drain asked for its end

  RunId id() const { return row_.id; }
  const model::Run& row() const { return row_; }
  const model::RunProgress& progress() const { return row_.progress; }
  /// Of the version that it was made of, as far as known.
  const model::JobRules& rules() const { return *rules_; }
  bool in_slot_queue() const { return in_slot_queue_; }
  model::AttemptKey attempt() const { return {row_.id, row_.progress.attempt}; }
  /// It is that attempt's, by that worker: after a restore two workers may have one of the same number.
  bool is_of(model::AttemptKey key, const std::string& worker_id) const {
    return is_held() && attempt() == key && row_.progress.worker.id == worker_id;
  }
  /// The highest number that an attempt of it has had, as far as is known.
  std::int32_t last_attempt() const { return std::max(row_.progress.attempt, forgotten); }
  /// Stored for a worker, and not ended as far as is known.
  bool is_held() const {
    return row_.progress.state == model::RunState::Dispatched ||
           row_.progress.state == model::RunState::Running;
  }

  void set_reason(model::Reason reason) { row_.progress.reason = reason; }
  void set_detail(std::string detail) { row_.progress.detail = std::move(detail); }
  void set_outcome(model::Outcome outcome) { row_.progress.outcome = std::move(outcome); }
  void set_started(WallTime at) { row_.progress.started = at; }
  void set_ended(WallTime at) { row_.progress.ended = at; }
  void set_not_before(std::optional<WallTime> at) { row_.progress.not_before = at; }
  void set_epoch(Epoch epoch) { row_.progress.epoch = epoch; }
  void ask_cancel() { row_.progress.cancel_asked = true; }
  void count_failure() { ++row_.progress.failures; }
  void count_loss() { ++row_.progress.losses; }

 private:
  friend class State;
  friend class RunTable;
  friend class SlotQueueTable;
  friend struct StateSurgery;          // tests break it on purpose

  model::Run row_;
  RulesPtr rules_;
  bool in_slot_queue_ = false;
};

enum class RunTimer { RetryDelay, DispatchRetry, Fence, LazyWrite, Backstop, CancelRepeat };

/// Thread: the Scheduler's. What concerns jobs, queues and workers too is State's, which alone adds runs,
/// moves them and lets them go.
class RunTable {
 public:
  RunEntry* find(RunId id);
  const RunEntry* find(RunId id) const;
  std::size_t size() const { return runs_.size(); }
  auto all() const { return walk(runs_); }
  /// Runs with a higher id, in order.
  auto after(RunId id) const { return Walk(runs_.upper_bound(id), runs_.end()); }
  const std::map<model::RunState, std::int64_t>& by_state() const { return by_state_; }

  /// The row must be written with this batch; the entry goes after that when it is final.
  void touch(const RunEntry& run) { touched_.insert(run.id()); }
  const std::set<RunId>& touched() const { return touched_; }
  void clear_touched() { touched_.clear(); }

  TimerIndex<RunId, RunTimer>& timers() { return timers_; }
  const TimerIndex<RunId, RunTimer>& timers() const { return timers_; }

 private:
  friend class State;
  RunEntry& add(RunEntry entry);
  void set_state(RunEntry& run, model::RunState to, model::Reason reason, std::string detail);
  void erase(RunId id);

  std::map<RunId, RunEntry> runs_;
  std::set<RunId> touched_;
  std::map<model::RunState, std::int64_t> by_state_;  ///< of `runs_`
  TimerIndex<RunId, RunTimer> timers_;
};

}  // namespace rota::master::core
