// Unfinished runs: their entries, the rows that go with the next batch, how many stand in each state, and
// when each must be looked at again.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/child.h"
#include "common/model/run.h"
#include "common/model/worker.h"
#include "common/model/worker_start.h"
#include "master/core/kept_rules.h"
#include "master/core/tables/id_set.h"
#include "master/core/tables/run_timers.h"
#include "master/core/tables/walk.h"

namespace rota::master::core {

/// A moment that may be missing, in eight bytes.
class MaybeTime {
 public:
  MaybeTime() = default;
  MaybeTime(std::optional<WallTime> at) : ms_(at ? to_ms(*at) : kNone) {}
  MaybeTime(WallTime at) : ms_(to_ms(at)) {}
  explicit operator bool() const { return ms_ != kNone; }
  operator std::optional<WallTime>() const { return *this ? std::optional(**this) : std::nullopt; }
  WallTime operator*() const { return wall_from_ms(ms_); }
  WallTime value_or(WallTime other) const { return *this ? **this : other; }
  void reset() { ms_ = kNone; }

 private:
  static constexpr std::int64_t kNone = INT64_MIN;
  std::int64_t ms_ = kNone;
};

/// A large value that most have not: without it, the value that its type begins with.
template <typename Value>
class Seldom {
 public:
  const Value& get() const {
    static const Value kNone{};
    return value_ == nullptr ? kNone : *value_;
  }
  bool has_value() const { return value_ != nullptr; }
  void set(Value value) {
    if (value_ != nullptr) {
      *value_ = std::move(value);
    } else if (!(value == Value{})) {
      value_ = std::make_unique<Value>(std::move(value));
    }
  }
  Value& change() {
    if (value_ == nullptr) value_ = std::make_unique<Value>();
    return *value_;
  }
  void clear() { value_.reset(); }
  Value take() {
    if (value_ == nullptr) return Value{};
    Value taken = std::move(*value_);
    value_.reset();
    return taken;
  }

 private:
  std::unique_ptr<Value> value_;
};

/// How the sending of a run's present attempt stands, within this Term.
struct SendState {
  std::int16_t in_flight = 0;          ///< dispatches whose answer has not come
  bool unclear = false;                ///< a dispatch was answered Unknown: it may still arrive
  bool accepted = false;               ///< the worker said that it holds it
};

/// A life's key; shared by it and all runs that it has had.
using LifeKeyPtr = std::shared_ptr<const model::WorkerKey>;

/// What of a run never changes, and decisions need: less than its row (model::Run).
struct RunFacts {
  RunId id;
  JobId job;
  JobVersion version = 0;
  model::RunKind kind = model::RunKind::Tick;
  MaybeTime tick;
  WallTime scheduled{};
  WallTime recorded{};
  std::shared_ptr<const model::Parameters> parameters;
};

RunFacts facts_of(const model::Run& row);

/// model::RunProgress, kept small. What only a run has that was sent, or of which something is told, stands
/// apart: a hundred thousand may wait for their first attempt.
class RunTrack {
 public:
  model::RunState state = model::RunState::Waiting;
  model::Reason reason = model::Reason::None;
  AttemptNo attempt = 0;
  std::int32_t failures = 0;
  std::int32_t losses = 0;
  bool cancel_asked = false;

  MaybeTime dispatched() const { return more_.get().dispatched; }
  MaybeTime started() const { return more_.get().started; }
  MaybeTime ended() const { return more_.get().ended; }
  MaybeTime not_before() const { return more_.get().not_before; }
  /// model::RunProgress says of which attempt.
  MaybeTime first_dispatched() const { return more_.get().first_dispatched; }
  /// The version of its namespace's default times with which its newest attempt was sent; 0: none.
  std::int32_t times() const { return more_.get().times; }
  const std::string& detail() const { return more_.get().detail.get(); }
  const model::Outcome& outcome() const { return more_.get().outcome.get(); }
  /// Of a run of RunKind::WorkerStart: where alone it may run.
  const model::StartKey& start() const { return more_.get().start.get(); }
  /// Of a run of RunKind::Child; of others depth 0.
  const model::Parentage& parentage() const { return more_.get().parentage.get(); }
  const model::WorkerKey& worker() const {
    static const model::WorkerKey kNobody;
    const LifeKeyPtr& worker = more_.get().worker;
    return worker == nullptr ? kNobody : *worker;
  }

 private:
  friend class RunEntry;
  friend class RunTable;
  friend class State;

  struct More {
    MaybeTime dispatched, started, ended, not_before, first_dispatched;
    std::int32_t times = 0;
    LifeKeyPtr worker;
    Seldom<std::string> detail;
    Seldom<model::Outcome> outcome;
    Seldom<model::StartKey> start;
    Seldom<model::Parentage> parentage;
  };

  void set_detail(std::string detail) {
    if (more_.has_value() || !detail.empty()) more_.change().detail.set(std::move(detail));
  }
  void set_not_before(MaybeTime at) {
    if (more_.has_value() || at) more_.change().not_before = at;
  }

  Seldom<More> more_;
};

class JobEntry;
class LifeEntry;
class SlotQueue;

/// Where a run is (state, worker, number of its attempt, queue) changes by State's functions alone; what is
/// told of it is set here, by whoever decides it.
class RunEntry {
 public:
  /// One that is stored, or whose row is on its way there.
  RunEntry(model::Run&& row, RulesPtr rules);
  /// A new one: nothing has happened to it.
  RunEntry(RunFacts facts, RulesPtr rules) : facts_(std::move(facts)), rules_(std::move(rules)) {}

  SendState send;
  std::int32_t forgotten = 0;          ///< highest number of an attempt that a database which went back lacks
  std::uint32_t place = 0;             ///< of its row in the batch, if that is there (batch_rows.h)
  bool timed_out = false;              ///< the leader's backstop asked for its end, and no drain before it
  bool handed_over = false;            ///< the deadline of its worker's drain asked for its end

 private:
  bool in_slot_queue_ : 1 = false;
  bool prefers_ : 1 = false;
  mutable bool touched_ = false;

 public:

  RunId id() const { return facts_.id; }
  const RunFacts& row() const { return facts_; }
  const RunTrack& progress() const { return track_; }
  /// Of the version that it was made of, as far as known.
  const KeptRules& rules() const { return *rules_; }
  bool in_slot_queue() const { return in_slot_queue_; }
  /// That it stands in; null: in none.
  const SlotQueue* slot_queue() const { return queue_; }
  /// It waits for a worker with the labels of `prefer`, and for no other yet.
  bool prefers() const { return prefers_; }
  /// It belongs to one start of one worker.
  bool is_bound() const { return facts_.kind == model::RunKind::WorkerStart; }
  /// Of an unfinished run.
  JobEntry& job() const { return *job_; }
  /// Null: nobody holds it.
  LifeEntry* life() const { return life_; }
  model::AttemptKey attempt() const { return {facts_.id, track_.attempt}; }
  /// It is that attempt's, by that worker: after a restore two workers may have one of the same number.
  bool is_of(model::AttemptKey key, const std::string& worker_id) const {
    return is_held() && attempt() == key && track_.worker().id == worker_id;
  }
  /// Stands for late ticks, and its turn has not come.
  bool waits_to_catch_up() const {
    return track_.state == model::RunState::Waiting && track_.reason == model::Reason::CaughtUp;
  }
  /// The highest number that an attempt of it has had, as far as is known.
  std::int32_t last_attempt() const { return std::max(track_.attempt, forgotten); }
  /// Stored for a worker, and not ended as far as is known.
  bool is_held() const {
    return track_.state == model::RunState::Dispatched || track_.state == model::RunState::Running;
  }

  void set_reason(model::Reason reason) { track_.reason = reason; }
  void set_detail(std::string detail) { track_.set_detail(std::move(detail)); }
  void set_outcome(model::Outcome outcome) { track_.more_.change().outcome.set(std::move(outcome)); }
  void set_started(WallTime at) { track_.more_.change().started = at; }
  void set_ended(WallTime at) { track_.more_.change().ended = at; }
  void set_not_before(std::optional<WallTime> at) { track_.set_not_before(at); }
  void bind_to(model::StartKey start) { track_.more_.change().start.set(std::move(start)); }
  void set_parentage(const model::Parentage& parentage) { track_.more_.change().parentage.set(parentage); }
  void set_first_dispatched(MaybeTime at) { track_.more_.change().first_dispatched = at; }
  void set_times(std::int32_t version) {
    if (version != track_.times()) track_.more_.change().times = version;
  }
  void ask_cancel() { track_.cancel_asked = true; }
  void count_failure() { ++track_.failures; }
  void count_loss() { ++track_.losses; }

  /// What its row says of it now. Of a final run it is given once: its outcome goes with it.
  model::RunProgress write_progress(Epoch epoch);

 private:
  friend class State;
  friend class RunTable;
  friend class SlotQueueTable;
  friend struct StateSurgery;          // tests break it on purpose

  RunFacts facts_;
  RunTrack track_;
  RulesPtr rules_;
  JobEntry* job_ = nullptr;            ///< its own, which stays as long as it is unfinished
  LifeEntry* life_ = nullptr;          ///< that holds it; none: nobody does
  SlotQueue* queue_ = nullptr;         ///< that it stands in
};

static_assert(sizeof(RunEntry) <= 152, "there may be a hundred thousand of them; larger ones cost each more");

using StateCounts = std::array<std::int64_t, static_cast<std::size_t>(model::RunState::Skipped) + 1>;

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
  /// How many stand in each state, by its number.
  const StateCounts& by_state() const { return by_state_; }

  /// The row must be written with this batch; the entry goes after that when it is final.
  void touch(const RunEntry& run) {
    if (!std::exchange(run.touched_, true)) touched_.push_back(run.id());
  }
  /// Each once, in the order in which they were touched.
  const std::vector<RunId>& touched() const { return touched_; }
  /// Gives them in the order of their ids, and none is touched any more.
  std::vector<RunId> take_touched();

  RunTimers& timers() { return timers_; }
  const RunTimers& timers() const { return timers_; }

 private:
  friend class State;
  RunEntry& add(RunEntry entry);
  void set_state(RunEntry& run, model::RunState to, model::Reason reason, std::string detail);
  void erase(RunId id);

  std::int64_t& count_of(model::RunState state) { return by_state_[static_cast<std::size_t>(state)]; }

  IdMap<RunId, RunEntry> runs_;
  std::vector<RunId> touched_;
  StateCounts by_state_{};             ///< of `runs_`
  RunTimers timers_;
};

}  // namespace rota::master::core
