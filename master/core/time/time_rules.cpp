#include "master/core/time/time_rules.h"

#include <algorithm>
#include <limits>

#include "master/core/attempts/attempt_rules.h"
#include "master/core/admission/dispatch_rules.h"
#include "master/core/workers/conduct_rules.h"
#include "master/core/workers/drain_rules.h"
#include "master/core/attempts/fence_rules.h"
#include "master/core/attempts/limit_rules.h"
#include "master/core/admission/firing.h"
#include "master/core/admission/late_rules.h"
#include "master/core/admission/quota_rules.h"
#include "master/core/admission/stuck_rules.h"
#include "master/core/memory_rules.h"
#include "master/core/notify/expect_rules.h"
#include "master/core/notify/notify_rules.h"
#include "master/core/workers/scale_desk.h"
#include "master/core/time/freeze_rules.h"
#include "master/core/time/slice_rules.h"
#include "master/core/workers/start_rules.h"
#include "master/core/workers/worker_rules.h"

namespace rota::master::core {

using model::Reason;

namespace {

constexpr Millis kTick{1};  // times are whole milliseconds
constexpr WallTime kNever = WallTime::max();

/// Nothing that is recorded lies between that row and `from`. A tick of an entry `after_end` may, which is in
/// no schedule.
bool is_neighbour(const JobEntry& job, const model::Gap& last, WallTime from) {
  return job.schedule().after_end() == nullptr && job.schedule().next_recorded(last.to) == from;
}

/// Adds a gap row, or extends the last row of this batch where that is its neighbour.
void add_gap(Context& ctx, const JobEntry& job, WallTime from, WallTime to, std::int64_t count,
             Reason reason, RunId reference) {
  ctx.state.counters().ticks_skipped += count;
  std::vector<model::Gap>& gaps = ctx.out.changes.gaps;
  if (!gaps.empty()) {
    model::Gap& last = gaps.back();
    if (last.job == job.row.id && last.version == job.row.version && last.reason == reason &&
        last.reference == reference.value && is_neighbour(job, last, from)) {
      last.to = to;
      last.count += count;
      ctx.state.ticks().note_longer_gap(last);
      return;
    }
  }
  gaps.push_back({job.row.id, job.row.version, from, to, count, reason, reference.value,
                  ctx.state.epoch()});
  notify_of_gap(ctx, job, gaps.back());
  expect_gap(ctx, job, gaps.back());
  ctx.state.ticks().note_gap(gaps.back());
}

/// The reason to tell for a tick that found a run of its job unfinished, or the queue full. When nobody led
/// or ticks were held at its moment, nobody knows what ran then, so it was missed. The same holds when the
/// run in its way is itself one that was made up for.
Reason why_skipped(Context& ctx, const JobEntry& job, WallTime tick, Reason reason) {
  if (ctx.at - tick > kDecidedInTime) return Reason::Missed;
  const RunEntry* run = ctx.state.find_run(blocking_run(job));
  const bool is_made_up = run != nullptr && run->row().kind != model::RunKind::Child &&
                          run->row().recorded - run->row().scheduled > kDecidedInTime;
  return is_made_up && run->row().recorded >= tick ? Reason::Missed : reason;
}

/// So late that its run waits until it is caught up.
bool is_caught_up(const Context& ctx, const JobEntry& job, WallTime tick) {
  const WallTime start = tick + job.jitter_at(tick);
  return ctx.at - start > kDecidedInTime && ctx.state.ticks().may_store_late_rows();
}

RunId fire_tick(Context& ctx, JobEntry& job, WallTime tick, bool is_late = false) {
  Firing firing;
  firing.tick = tick;
  firing.scheduled = tick;
  firing.not_before = tick + job.jitter_at(tick);
  firing.is_late = is_late;
  ++ctx.state.counters().ticks_fired;
  const OverlapChoice choice = is_late ? OverlapChoice{} : overlap_of(ctx.state, job, firing.kind);
  const RunId run = begin_run(ctx, job, firing, choice);
  remember_firing(ctx, job, tick);
  return run;
}

/// Past overlap: it fires, unless its namespace has as many runs as it may have.
void fire_or_skip(Context& ctx, JobEntry& job, WallTime tick, bool is_late) {
  const Reason beyond = why_no_firing(ctx.state, job.row.space(), tick);
  if (beyond != Reason::None) return add_gap(ctx, job, tick, tick, 1, beyond, RunId{});
  fire_tick(ctx, job, tick, is_late);
}

void record_tick(Context& ctx, JobEntry& job, WallTime tick) {
  const OverlapChoice choice = overlap_of(ctx.state, job, model::RunKind::Tick);
  if (choice.kind != OverlapChoice::Kind::Skip) {
    fire_or_skip(ctx, job, tick, false);
    return;
  }
  const RunId behind = blocking_run(job);
  const Reason reason = why_skipped(ctx, job, tick, choice.reason);
  add_gap(ctx, job, tick, tick, 1, reason, behind);
  note_skipped(ctx, job, behind, reason, 1);
}

std::int64_t count_ticks(const JobEntry& job, WallTime from, WallTime to) {
  return job.schedule().count_between(from - kTick, to, std::numeric_limits<std::int64_t>::max());
}

/// Each of the ticks of [first, last] fires, as far as so many may wait; the rest, the oldest, is a gap.
/// `later`: so many more are late, and come in a later slice.
void fire_all_late(Context& ctx, JobEntry& job, WallTime first, WallTime last, std::int64_t later) {
  const std::int64_t room = late_room(job.caught_up().size(), ctx.state.catch_up().size());
  const std::int64_t most = std::max<std::int64_t>(room - later, 0);
  const std::int64_t all = count_ticks(job, first, last);
  std::optional<WallTime> tick = first;
  if (all > most) {
    const WallTime begin = newest_begin(job.schedule(), first, last, most);
    const WallTime newest = newest_tick(job.schedule(), first, begin);
    add_gap(ctx, job, first, newest, all - most, Reason::LateBounded, RunId{});
    tick = job.schedule().next_after(begin);
  }
  for (; tick && *tick <= last && !is_over_by_tick(ctx.state, job); tick = job.schedule().next_after(*tick)) {
    if (is_caught_up(ctx, job, *tick)) {
      fire_or_skip(ctx, job, *tick, true);
    } else {
      record_tick(ctx, job, *tick);
    }
  }
}

/// A run is in the way of late ticks. With a short grace some may be so young that it is told as it is; those
/// before them were missed all the same.
void skip_late(Context& ctx, JobEntry& job, WallTime first, WallTime last, Reason reason) {
  const RunId behind = blocking_run(job);
  const WallTime missed_through = ctx.at - kDecidedInTime - kTick;
  if (first <= missed_through && missed_through < last) {
    const WallTime missed = newest_tick(job.schedule(), first, missed_through);
    add_gap(ctx, job, first, missed, count_ticks(job, first, missed), Reason::Missed, behind);
    first = *job.schedule().next_after(missed);
  }
  add_gap(ctx, job, first, last, count_ticks(job, first, last), why_skipped(ctx, job, last, reason), behind);
}

/// The newest of the ticks of [first, last] fires; the others are coalesced into its run. `is_part`: a later
/// tick is late too, and fires in a later part of the backlog, unless a run is in its way now: then nobody
/// knows whether one will ever stand for these, so they are told as they are.
void fire_newest_late(Context& ctx, JobEntry& job, WallTime first, WallTime last, bool is_part) {
  const auto gap = [&](WallTime to, Reason reason, RunId run) {
    add_gap(ctx, job, first, to, count_ticks(job, first, to), reason, run);
  };
  const bool is_late = is_caught_up(ctx, job, last);
  if (is_late && !job.caught_up().empty()) {  // one that waits already stands for these too
    return gap(last, Reason::CoalescedInto, *job.caught_up().begin());
  }
  const OverlapChoice choice = overlap_of(ctx.state, job, model::RunKind::Tick);
  if (choice.kind == OverlapChoice::Kind::Skip) {
    return skip_late(ctx, job, first, last, choice.reason);
  }
  if (is_part) return gap(last, Reason::CoalescedInto, RunId{});
  const Reason beyond = why_no_firing(ctx.state, job.row.space(), last);
  if (beyond != Reason::None) return gap(last, beyond, RunId{});
  const RunId run = fire_tick(ctx, job, last, is_late);
  if (last != first) gap(newest_tick(job.schedule(), first, last - kTick), Reason::CoalescedInto, run);
}

/// An older master would not know the runs that wait to be caught up.
model::LatePolicy late_policy(const Context& ctx, const JobEntry& job) {
  const model::LatePolicy wanted = job.rules().late;
  const bool is_all = wanted == model::LatePolicy::FireAll;
  return is_all && !ctx.state.ticks().may_store_late_rows() ? model::LatePolicy::FireOnce : wanted;
}

/// Records late ticks from `first` through `end`. `edge` is the youngest tick that counts as late. It may
/// lie after `end` when the backlog is recorded in slices: then a later slice brings the run that stands
/// for them.
void record_late_ticks(Context& ctx, JobEntry& job, WallTime first, WallTime end, WallTime edge) {
  const WallTime last = newest_tick(job.schedule(), first, end);
  switch (late_policy(ctx, job)) {
    case model::LatePolicy::Skip:
      return add_gap(ctx, job, first, last, count_ticks(job, first, last), Reason::LateSkipped, RunId{});
    case model::LatePolicy::FireAll: {
      const WallTime after = std::max(end, last);
      const std::int64_t later = edge > after ? job.schedule().count_between(after, edge, kCaughtUpOfJob) : 0;
      return fire_all_late(ctx, job, first, last, later);
    }
    case model::LatePolicy::FireOnce: break;
  }
  const bool is_part = edge > end && newest_tick(job.schedule(), first, edge) > last;
  fire_newest_late(ctx, job, first, last, is_part);
}

/// The first moment after that one of which something is recorded: by the clock, or after the end of the last
/// run.
std::optional<WallTime> next_after(const JobEntry& job, WallTime at) {
  const auto next = job.schedule().next_recorded(at);
  const auto due = job.row.memory().due;
  return due && *due > at && (!next || *due < *next) ? due : next;
}

/// All through that moment are recorded. After the last one that its rules let fire there is none.
void go_on_after(Context& ctx, JobEntry& job, WallTime at) {
  const bool is_over = is_over_by_tick(ctx.state, job);
  ctx.state.jobs().set_next_tick(job, is_over ? std::nullopt : next_after(job, at));
}

/// Records the job's ticks by the clock through `end`, in order; none of them has a run yet, and none is
/// frozen through `edge_most`, which is not before `end`.
void record_unfrozen_ticks(Context& ctx, JobEntry& job, WallTime end, WallTime edge_most) {
  const WallTime last = over_since(ctx.state, job).value_or(WallTime::max());
  const WallTime edge = std::min({late_edge(ctx, job), edge_most, last});
  if (job.next_tick() && *job.next_tick() <= std::min(edge, end)) {
    record_late_ticks(ctx, job, *job.next_tick(), std::min(edge, end), edge);
    go_on_after(ctx, job, std::min(edge, end));
  }
  while (job.next_tick() && *job.next_tick() <= end) {
    const WallTime tick = *job.next_tick();
    record_tick(ctx, job, tick);
    go_on_after(ctx, job, tick);
  }
}

/// The same where some of them may be frozen.
void record_among_freezes(Context& ctx, JobEntry& job, WallTime end) {
  const FreezeTable& freezes = ctx.state.freezes();
  while (job.next_tick() && *job.next_tick() <= end) {
    const WallTime first = *job.next_tick();
    const model::Freeze* freeze = freezes.covering(job.row.space(), first);
    if (freeze == nullptr) {
      const WallTime open = freezes.next_begin(job.row.space(), first).value_or(WallTime::max());
      record_unfrozen_ticks(ctx, job, std::min(end, open), open);
      continue;
    }
    const WallTime last = newest_tick(job.schedule(), first, std::min(end, freeze->end() - kTick));
    add_gap(ctx, job, first, last, count_ticks(job, first, last), Reason::Frozen, RunId{freeze->id});
    go_on_after(ctx, job, last);
  }
}

void record_planned_ticks(Context& ctx, JobEntry& job, WallTime end) {
  if (!ctx.state.freezes().empty()) return record_among_freezes(ctx, job, end);
  record_unfrozen_ticks(ctx, job, end, WallTime::max());
}

/// What an edit of a calendar took away before `end`, or then; from what is recorded next on.
std::optional<WallTime> next_edited_away(const JobEntry& job, WallTime end) {
  if (!job.next_tick()) return std::nullopt;
  const auto moment = job.schedule().next_edited_away(*job.next_tick() - kTick);
  return moment && *moment <= end ? moment : std::nullopt;
}

/// Ticks, and the moments between them that edits of calendars took away, in order.
void record_open_ticks(Context& ctx, JobEntry& job, WallTime end) {
  while (const auto moment = next_edited_away(job, end)) {
    record_planned_ticks(ctx, job, *moment - kTick);
    if (!job.next_tick()) return;  // it is over by its last tick
    add_gap(ctx, job, *moment, *moment, 1, Reason::CalendarEdited, RunId{});
    go_on_after(ctx, job, *moment);
  }
  record_planned_ticks(ctx, job, end);
}

/// Records the job's ticks through `end`, in order. It skips a tick that already has its run: a second row
/// would contradict the store, and a gap must not cover it.
void record_clock_ticks(Context& ctx, JobEntry& job, WallTime end) {
  const WallTime recorded = ctx.state.recorded_through(job);
  while (const auto taken = ctx.state.jobs().next_taken(job, recorded, end)) {
    record_open_ticks(ctx, job, *taken - kTick);
    go_on_after(ctx, job, *taken);
  }
  record_open_ticks(ctx, job, end);
}

/// When it is due instead of a late moment that is skipped, of a frozen one, or of one beyond what its
/// namespace may have; nothing else is recorded of
/// those. Empty: the moment stands.
std::optional<WallTime> due_instead(const Context& ctx, const JobEntry& job, WallTime due) {
  const CompiledEntry& entry = *job.schedule().after_end();
  const bool skips = job.rules().late == model::LatePolicy::Skip;
  const bool may_fire = why_no_firing(ctx.state, job.row.space(), due) == Reason::None;
  if (const model::Freeze* freeze = ctx.state.freezes().covering(job.row.space(), due)) {
    const WallTime thaw = std::max(freeze->end(), ctx.at + kTick);
    return entry.due_after_end(skips ? thaw : thaw - entry.interval()).value_or(kNever);
  }
  if (may_fire && (due > late_edge(ctx, job) || !skips)) return std::nullopt;
  return entry.due_after_end(ctx.at).value_or(kNever);
}

/// The job is due after the end of its last run. While a run is unfinished it is not: that one's end counts.
/// What is due by the clock at the same moment is one tick with it, and is left to that.
void record_after_end(Context& ctx, JobEntry& job, WallTime due) {
  const auto instead = due_instead(ctx, job, due);
  model::JobMemory memory = job.row.memory();
  memory.due = instead && *instead != kNever ? instead : std::nullopt;
  ctx.state.jobs().set_memory(job, memory);
  if (job.schedule().next_after(due - kTick) == due) return go_on_after(ctx, job, due - kTick);
  const bool is_taken = ctx.state.jobs().is_taken(job.row.id, due);
  const bool fires = !instead && !job.has_runs() && !is_taken;
  if (fires) fire_tick(ctx, job, due, due <= late_edge(ctx, job) && is_caught_up(ctx, job, due));
  go_on_after(ctx, job, fires || is_taken ? due : due - kTick);
}

void record_due_ticks(Context& ctx, JobEntry& job, WallTime end) {
  if (const auto due = job.row.memory().due; due && *due <= end && job.schedule().after_end() != nullptr) {
    record_clock_ticks(ctx, job, *due - kTick);
    if (!is_over_by_tick(ctx.state, job)) record_after_end(ctx, job, *due);
  }
  record_clock_ticks(ctx, job, end);
}

void write_watermark(Context& ctx) {
  TickTable& ticks = ctx.state.ticks();
  if (!ctx.state.jobs().first_due() || ticks.are_held()) return;
  if (ctx.now.mono - ticks.written() < kWatermarkPause) return;
  ticks.set_written(ctx.now.mono);
  if (ticks.is_ahead_of_batch()) ctx.out.changes.watermark = ticks.put_in_batch(ctx.now.mono);
}

void run_timer(Context& ctx, RunId id, RunTimer kind) {
  RunEntry* run = ctx.state.find_run(id);
  if (run == nullptr || model::is_final(run->progress().state)) return;
  switch (kind) {
    case RunTimer::RetryDelay:
      end_retry_delay(ctx, *run);
      return;
    case RunTimer::DispatchRetry:
      retry_dispatch(ctx, *run);
      return;
    case RunTimer::Fence:
      look_at_fence(ctx, *run);
      return;
    case RunTimer::LazyWrite:
      if (run->in_slot_queue()) run->set_reason(why_queued(ctx.state, *run));
      ctx.state.touch(*run);
      return;
    case RunTimer::Prefer:
      ctx.state.stop_preferring(*run);
      return;
    case RunTimer::Limit:
      if (!run->is_held()) end_out_of_time(ctx, *run);
      return;
    case RunTimer::Backstop:
      if (!was_handed_over(ctx, *run)) run->timed_out = true;  // who asked first has ended it
      [[fallthrough]];
    case RunTimer::CancelRepeat:
      if (run->is_held()) send_cancel(ctx, *run);
      return;
  }
}

void life_timer(Context& ctx, const model::WorkerKey& key, LifeTimer kind) {
  LifeEntry* life = ctx.state.find_life(key);
  switch (kind) {
    case LifeTimer::Hello:
      send_hello(ctx, key);
      return;
    case LifeTimer::Rest:
      if (life != nullptr) ctx.state.workers().set_resting(*life, false);
      return;
    case LifeTimer::TellDrain:
      if (life != nullptr) follow_drain(ctx, *life);
      return;
    case LifeTimer::AskAgain:
      ask_inventory(ctx, key);
      return;
    case LifeTimer::Silence:
      watch_silent(ctx, key);
      return;
    case LifeTimer::LetIn:
      if (life != nullptr) let_in(ctx, *life);
      return;
    case LifeTimer::HandOver:
      if (life != nullptr) hand_over(ctx, *life);
      return;
  }
}

void run_timers(Context& ctx) {
  State& state = ctx.state;
  while (const auto due = state.runs().timers().pop_due(ctx.now.mono)) {
    run_timer(ctx, due->first, due->second);
  }
  while (const auto due = state.workers().timers().pop_due(ctx.now.mono)) {
    life_timer(ctx, due->first, due->second);
  }
  while (const auto due = state.workers().hold_timers().pop_due(ctx.now.mono)) end_hold_time(ctx, due->first);
  while (const auto due = state.starts().timers().pop_due(ctx.now.mono)) end_absent_starts(ctx, due->first);
}

Millis until(MonoTime at, MonoTime now) {
  return at <= now ? Millis{0} : std::chrono::ceil<Millis>(at - now);
}

}  // namespace

WallTime newest_tick(const CompiledSchedule& schedule, WallTime first, WallTime through) {
  // Windows that end at `through` and double until one holds a tick; the tick lies in the half that is
  // new, which is searched again until it is small enough to be walked.
  constexpr Millis kWalk{2000};
  WallTime end = through;
  Millis window = kWalk;
  WallTime begin = std::max(first - kTick, end - window);
  while (true) {
    const auto tick = schedule.next_after(begin);
    if (!tick || *tick > end) {
      if (begin < first) return first;
      end = begin;  // nothing in (begin, end]
      window *= 2;
      begin = std::max(first - kTick, end - window);
      continue;
    }
    if (end - begin <= kWalk) break;
    const WallTime middle = begin + (end - begin) / 2;
    const auto later = schedule.next_after(middle);
    if (later && *later <= end) {
      begin = middle;
    } else {
      end = middle;
    }
  }
  WallTime newest = *schedule.next_after(begin);
  for (auto next = schedule.next_after(newest); next && *next <= end;
       next = schedule.next_after(newest)) {
    newest = *next;
  }
  return newest;
}

WallTime late_edge(const Context& ctx, const JobEntry& job) {
  return ctx.at - job.rules().tick_grace - kTick;
}

void handle_time_passed(Context& ctx, const TimePassed& event) {
  run_timers(ctx);
  ctx.state.keys().forget_old(ctx.now.mono);
  const std::int32_t most = ctx.state.options().fire_at_most;
  fire_due(ctx, event.fire_at_most > 0 ? std::min(event.fire_at_most, most) : most);
  thaw_due(ctx);
  tell_expectations(ctx);
  tell_dead_workers(ctx);
  write_watermark(ctx);
}

void record_ticks_through(Context& ctx, JobEntry& job, WallTime through) {
  ctx.recording = through;
  record_due_ticks(ctx, job, through);
  ctx.recording.reset();
}

bool is_planned(const JobEntry& job) { return job.row.state == model::JobState::Enabled && !job.row.one_off; }

void plan_next_tick(State& state, JobEntry& job) {
  if (!is_planned(job)) {
    state.jobs().set_next_tick(job, std::nullopt);
    return;
  }
  state.jobs().set_next_tick(job, next_after(job, state.recorded_through(job)));
}

std::optional<Millis> next_wake(const State& state, Now now) {
  std::optional<Millis> wake;
  const auto sooner = [&wake](Millis in) { wake = wake ? std::min(*wake, in) : in; };
  if (const auto next = state.jobs().first_due(); next && !state.ticks().are_held()) {
    const WallTime at = std::max(now.wall, state.core_time());
    sooner(next->at <= at ? Millis{0} : next->at - now.wall);
    sooner(until(state.ticks().written() + kWatermarkPause, now.mono));
  }
  if (state.calendars().is_replan_wanted()) sooner(Millis{0});
  if (const auto first = state.runs().timers().first()) sooner(until(*first, now.mono));
  if (const auto in = thaw_wake(state, now)) sooner(*in);
  if (const auto first = state.catch_up().wake()) sooner(until(*first, now.mono));
  if (const auto first = state.workers().timers().first()) sooner(until(*first, now.mono));
  if (const auto first = state.workers().hold_timers().first()) sooner(until(*first, now.mono));
  if (const auto first = state.starts().timers().first()) sooner(until(*first, now.mono));
  if (!state.children().empty()) sooner(Millis{0});
  if (!state.starts().waiting().empty() && !state.ticks().are_held()) sooner(Millis{0});
  if (const auto in = expect_wake(state, now)) sooner(*in);
  if (const auto first = scale_wake(state)) sooner(until(*first, now.mono));
  if (const auto first = notify_wake(state)) sooner(until(*first, now.mono));
  return wake;
}

}  // namespace rota::master::core
