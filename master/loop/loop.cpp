#include "master/loop/loop.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "master/loop/term_end.h"

namespace rota::master::loop {

/// What was decided since the last batch was sent: what must be stored, and what waits for that.
struct EventLoop::Batch {
  core::Effects effects;
  MonoTime since{};                   ///< when its first reply was decided
  MonoTime begun{};                   ///< when its newest events were handled
  std::optional<MonoTime> first_try;  ///< set once storing has begun: nothing is added any more
  MonoTime next_try{};
  Millis pause{0};
  bool is_tried = false;              ///< the store has been given it
  bool maybe_stored = false;          ///< a try ended Unknown
};

/// With many runs a snapshot takes long: at most one part in so many of the loop's time goes into them.
constexpr int kSnapshotShare = 25;

EventLoop::EventLoop(Epoch epoch, LoopParts parts, const LoopOptions& options)
    : epoch_(epoch), parts_(std::move(parts)), options_(options), batch_(std::make_unique<Batch>()) {
  publish(parts_.clock.now());
}

EventLoop::~EventLoop() = default;

EventLoop::Turn EventLoop::turn() {
  if (ended_) return {ended_, Micros{0}, false};
  ++counters_.turns;
  Now now = parts_.clock.now();
  if (!batch_->first_try) {
    handle_events(now);
    if (wants_storing(now)) {
      batch_->first_try = now.mono;
      batch_->next_try = now.mono;
      batch_->pause = options_.retry_first;
    } else {
      send_all();
    }
  }
  if (batch_->first_try) {
    Turn stored = store_batch();
    if (stored.ended || stored.storing) return stored;
    now = parts_.clock.now();
  }
  publish(now);
  return {std::nullopt, time_to_wake(now), false};
}

void EventLoop::handle_events(Now now) {
  std::vector<core::Event> events = parts_.inbox.drain(options_.events_per_turn);
  if (batch_->effects.replies.empty()) batch_->since = now.mono;
  batch_->begun = now.mono;
  const auto wake = parts_.scheduler.next_wake(now);
  if (wake && *wake <= Millis{0}) events.insert(events.begin(), core::TimePassed{bound_.most()});
  for (const core::Event& event : events) {
    parts_.scheduler.handle(event, now, batch_->effects);
    ++counters_.events;
  }
  if (!events.empty()) dirty_ = true;
  check_invariants();
}

/// A broken one is told and counted, and the Term goes on: what it decides is fenced and stored all the same,
/// and another leader would recover from rows that may hold the same.
void EventLoop::check_invariants() {
  for (const core::Violation& violation : parts_.scheduler.sample_invariants()) {
    if (!violations_.note(violation)) continue;
    dirty_ = true;
    if (parts_.violated) parts_.violated(violation);
  }
}

/// Rows are stored at once. A reply without rows needs an epoch check that begins after its request came.
/// Renewals, which every worker sends every second, may wait a little to share one check.
bool EventLoop::wants_storing(Now now) const {
  const core::Effects& effects = batch_->effects;
  if (effects.term_ends || !effects.changes.empty()) return true;
  if (effects.replies.empty()) return false;
  const bool only_renewals =
      std::all_of(effects.replies.begin(), effects.replies.end(), [](const core::Reply& reply) {
        return std::holds_alternative<core::Renewed>(reply.body);
      });
  return !only_renewals || now.mono - batch_->since >= options_.check_within;
}

EventLoop::Turn EventLoop::store_batch() {
  if (batch_->effects.term_ends) {
    return {end({TermEnd::Why::HigherEpoch, batch_->effects.term_ends->why, {}}), Micros{0}, false};
  }
  const MonoTime now = parts_.clock.mono();
  if (now < batch_->next_try) return {std::nullopt, batch_->next_try - now, true};
  if (std::exchange(batch_->is_tried, true)) ++counters_.reruns;
  const store::ApplyResult result = parts_.store.apply(epoch_, batch_->effects.changes);
  const Micros took = parts_.clock.mono() - now;
  batch_time_.add(std::chrono::duration<double>(took).count());
  note_delay(Delay::Of::Store, took);
  if (result.outcome == store::ApplyOutcome::Failed) ++failed_applies_;
  return after_store(result);
}

/// What the requests of this batch asked for can never be stored. The answer says so, and not "ask the
/// leader": otherwise the request that caused it would be repeated and end Term after Term.
TermEnd EventLoop::contradicted(const store::ApplyResult& result) {
  const std::string& why = result.detail;
  const Error refused(batch_->maybe_stored ? ErrorCode::UnknownOutcome : ErrorCode::Internal,
                      "the leader could not store this: " + why);
  for (const core::Reply& open : std::exchange(batch_->effects.replies, {})) {
    parts_.reply(open.token, refused);
  }
  return end({TermEnd::Why::Contradicted, why, {}, result.went_back});
}

EventLoop::Turn EventLoop::after_store(const store::ApplyResult& result) {
  using store::ApplyOutcome;
  if (result.outcome == ApplyOutcome::Applied) {
    ++(batch_->effects.changes.empty() ? counters_.bare_checks : counters_.batches);
    note_stored(batch_->effects.changes);
    let_go();
    return {};
  }
  if (result.outcome == ApplyOutcome::Fenced) {
    ++counters_.stale_refused;
    return {end({TermEnd::Why::Fenced, result.detail, result.found}), Micros{0}, false};
  }
  if (result.permanent) return {contradicted(result), Micros{0}, false};
  if (result.outcome == ApplyOutcome::Unknown) {
    ++counters_.unknown_applies;
    batch_->maybe_stored = true;
  }
  const MonoTime now = parts_.clock.mono();
  if (now - *batch_->first_try >= options_.store_give_up) {
    return {end({TermEnd::Why::StoreLost, result.detail, {}}), Micros{0}, false};
  }
  const MonoTime give_up = *batch_->first_try + options_.store_give_up;
  batch_->next_try = std::min<MonoTime>(now + batch_->pause, give_up);
  batch_->pause = std::min(batch_->pause * 2, options_.retry_most);
  return {std::nullopt, batch_->next_try - now, true};
}

/// A tick's lateness is measured when its run is stored, so the time that storing took counts too.
void EventLoop::note_stored(const core::Changes& changes) {
  const Now now = parts_.clock.now();
  std::int64_t ticks = static_cast<std::int64_t>(changes.gaps.size());
  for (const model::Run& run : changes.new_runs) {
    if (!run.tick) continue;
    ++ticks;
    lateness_.add(std::chrono::duration<double>(now.wall - *run.tick).count());
  }
  bound_.note(ticks, now.mono - batch_->begun);
  if (!changes.watermark) return;
  std::scoped_lock lock(snapshot_mutex_);
  stored_watermark_ = changes.watermark;
}

/// Sends messages whose rows are stored; replies may still wait for their epoch check.
void EventLoop::send_all() {
  for (core::Send& send : batch_->effects.sends) parts_.sender.send(epoch_, std::move(send));
  if (const auto asked = std::exchange(batch_->effects.list_workers, 0); asked != 0) {
    if (parts_.list_workers) {
      parts_.list_workers(asked);
    } else {
      (void)parts_.inbox.post(core::WorkersListed{asked});
    }
  }
  for (const model::WorkerKey& key : std::exchange(batch_->effects.watch_beats, {})) {
    if (parts_.watch_beats) parts_.watch_beats(key);
  }
  for (const core::Notice& notice : std::exchange(batch_->effects.notices, {})) {
    if (parts_.notice) parts_.notice(notice);
  }
  batch_->effects.sends.clear();
  batch_->effects.index.dispatches.clear();
}

void EventLoop::let_go() {
  send_all();
  const std::unique_ptr<Batch> done = std::exchange(batch_, std::make_unique<Batch>());
  for (core::Reply& reply : done->effects.replies) {
    parts_.reply(reply.token, std::move(reply.body));
  }
}

TermEnd EventLoop::end(TermEnd why) {
  if (ended_) return *ended_;
  ended_ = std::move(why);
  refuse_unhandled(parts_.inbox.close(), parts_.reply);
  refuse_unstored(batch_->effects.replies, batch_->maybe_stored, parts_.reply);
  batch_ = std::make_unique<Batch>();
  return *ended_;
}

void EventLoop::publish(Now now) {
  if (!dirty_) return;
  if (published_ && now.mono - *published_ < snapshot_pause_) return;
  const MonoTime began = parts_.clock.mono();
  auto fresh = std::make_shared<core::Snapshot>(parts_.scheduler.snapshot(now));
  fresh->counters["batches"] = counters_.batches;
  fresh->counters["reruns"] = counters_.reruns;
  fresh->counters["stale_refused"] = counters_.stale_refused;
  fresh->tallies.batch_time = batch_time_;
  fresh->tallies.lateness = lateness_;
  fresh->tallies.inbox_events = static_cast<std::int64_t>(parts_.inbox.size());
  fresh->tallies.batches_failed = failed_applies_;
  fresh->tallies.batches_unknown = counters_.unknown_applies;
  fresh->tallies.invariant_violations = violations_.count();
  fresh->tallies.first_violation = violations_.first();
  dirty_ = false;
  published_ = parts_.clock.mono();
  const auto takes = std::chrono::ceil<Millis>(*published_ - began);
  snapshot_pause_ =
      std::clamp<Millis>(kSnapshotShare * takes, options_.snapshot_every, options_.snapshot_most);
  std::scoped_lock lock(snapshot_mutex_);
  snapshot_ = std::move(fresh);
}

Micros EventLoop::time_to_wake(Now now) const {
  if (parts_.inbox.size() > 0) return Micros{0};
  Micros wait = options_.idle_wake;
  if (const auto wake = parts_.scheduler.next_wake(now)) wait = std::min<Micros>(wait, *wake);
  const auto sooner = [&](MonoTime at) {
    wait = std::clamp<Micros>(at - now.mono, Micros{0}, wait);
  };
  if (!batch_->effects.replies.empty()) sooner(batch_->since + options_.check_within);
  if (dirty_ && published_) sooner(*published_ + snapshot_pause_);
  return wait;
}

TermEnd EventLoop::run(std::stop_token stop, const std::function<void(const char*)>& heartbeat) {
  // A batch may be large and the database slow: each statement that it answers shows that nothing hangs.
  if (heartbeat) parts_.store.tell_progress([&heartbeat] { heartbeat("turning"); });
  const auto result = turn_until_end(stop, heartbeat);
  parts_.store.tell_progress({});
  return result;
}

TermEnd EventLoop::turn_until_end(const std::stop_token& stop,
                                  const std::function<void(const char*)>& heartbeat) {
  while (true) {
    if (stop.stop_requested()) return end({TermEnd::Why::Resigned, "asked to stop", {}});
    const Turn now = turn();
    if (now.ended) return *now.ended;
    if (heartbeat) heartbeat(now.storing ? "waiting for the store" : "turning");
    if (now.wait <= Micros{0}) continue;
    const MonoTime due = parts_.clock.mono() + now.wait;
    if (now.storing) {
      pause(now.wait, stop);
    } else {
      parts_.inbox.wait(now.wait, stop);
    }
    note_delay(Delay::Of::Processor, parts_.clock.mono() - due);
  }
}

void EventLoop::note_delay(Delay::Of of, Micros took) {
  const auto delay = delays_.note(of, took, parts_.clock.mono());
  if (delay && parts_.delayed) parts_.delayed(*delay);
}

/// Waits for the next try; no event is handled until then.
void EventLoop::pause(Micros wait, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any never;
  never.wait_for(lock, stop, wait, [] { return false; });
}

std::shared_ptr<const core::Snapshot> EventLoop::snapshot() const {
  std::scoped_lock lock(snapshot_mutex_);
  return snapshot_;
}

std::optional<core::Watermark> EventLoop::stored_watermark() const {
  std::scoped_lock lock(snapshot_mutex_);
  return stored_watermark_;
}

}  // namespace rota::master::loop
