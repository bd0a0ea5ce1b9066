#include "master/loop/loop.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "common/base/check.h"
#include "master/loop/term_end.h"

namespace rota::master::loop {

/// What was decided together: what must be stored, and what waits for that.
struct EventLoop::Batch {
  core::Effects effects;
  MonoTime since{};                   ///< when its first reply was decided
  Micros decided_in{0};               ///< so long its events were handled
  std::size_t events = 0;
  bool time_passed = false;           ///< what was due is in it
  std::optional<MonoTime> first_try;  ///< set once storing has begun: nothing is added any more
  MonoTime last_try{};
  MonoTime next_try{};
  Millis pause{0};
  bool is_tried = false;              ///< the store has been given it
  bool is_beside = false;             ///< it is being stored beside the loop
  bool maybe_stored = false;          ///< a try ended Unknown
  std::unique_ptr<store::PreparedRows> prepared;  ///< for the first try
  /// What is seen once it is stored. It knows nothing that was decided later.
  std::shared_ptr<const core::Snapshot> snapshot;
};

/// With many runs a snapshot takes long: at most one part in so many of the loop's time goes into them.
constexpr int kSnapshotShare = 25;

namespace {

/// Those of which a batch may hold many.
std::size_t rows_in(const core::Changes& changes) {
  return changes.jobs.size() + changes.versions.size() + changes.new_runs.size() +
         changes.updated_runs.size() + changes.attempts.size() + changes.gaps.size() + changes.notes.size();
}

}  // namespace

EventLoop::EventLoop(Epoch epoch, LoopParts parts, const LoopOptions& options)
    : epoch_(epoch), parts_(std::move(parts)), options_(options), batch_(std::make_unique<Batch>()) {
  publish(parts_.clock.now());
}

EventLoop::~EventLoop() { (void)wait_beside(); }

EventLoop::Turn EventLoop::turn() {
  if (ended_) return {ended_, Micros{0}, false};
  ++counters_.turns;
  if (open_) {
    Turn now = store_open();
    if (now.ended || now.storing) return now;  // one that failed is tried again before anything else
  }
  if (may_decide()) handle_events(parts_.clock.now());
  if (may_prepare()) prepare_next();
  if (!open_) {
    if (const auto& over = batch_->effects.term_ends) {
      return {end({TermEnd::Why::HigherEpoch, over->why, {}}), Micros{0}, false};
    }
    if (wants_storing(parts_.clock.now())) {
      hand_over();
      if (Turn now = store_open(); now.ended || now.storing) return now;
    } else {
      send_all(*batch_);
      batch_->events = 0;
      batch_->time_passed = false;
    }
  }
  const Now now = parts_.clock.now();
  publish(now);
  return {std::nullopt, time_to_wake(now), open_ && !may_decide()};
}

/// So many events may still be handled in this batch.
std::size_t EventLoop::room() const {
  return options_.events_per_turn - std::min(batch_->events, options_.events_per_turn);
}

/// While another batch is being stored, this one is bounded.
bool EventLoop::may_decide() const {
  return !open_ || (!batch_->effects.term_ends && room() > 0);
}

void EventLoop::handle_events(Now now) {
  std::vector<core::Event> events = parts_.inbox.drain(room());
  if (batch_->effects.replies.empty()) batch_->since = now.mono;
  if (batch_->effects.changes.empty()) batch_->decided_in = Micros{0};
  const auto wake = parts_.scheduler.next_wake(now);
  const bool is_due = wake && *wake <= Millis{0} && !batch_->time_passed;
  if (is_due) {
    events.insert(events.begin(), core::TimePassed{bound_.most()});
    batch_->time_passed = true;
  }
  for (const core::Event& event : events) {
    parts_.scheduler.handle(event, now, batch_->effects);
    ++counters_.events;
  }
  if (!events.empty()) dirty_ = true;
  batch_->events += events.size();
  batch_->decided_in += parts_.clock.mono() - now.mono;
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
/// Renewals, which every worker sends every second, may wait a little to share one check; many do not wait.
bool EventLoop::wants_storing(Now now) const {
  const core::Effects& effects = batch_->effects;
  if (!effects.changes.empty()) return true;
  if (effects.replies.empty()) return false;
  const bool only_renewals =
      std::all_of(effects.replies.begin(), effects.replies.end(), [](const core::Reply& reply) {
        return std::holds_alternative<core::Renewed>(reply.body);
      });
  if (!only_renewals || effects.replies.size() >= kRenewalsMost) return true;
  return now.mono - batch_->since >= options_.check_within;
}

/// What was decided goes to the store, or what was prepared of it; the rest is decided on.
void EventLoop::hand_over() {
  open_ = next_ ? std::move(next_) : std::exchange(batch_, std::make_unique<Batch>());
  open_->first_try = open_->next_try = parts_.clock.mono();
  open_->pause = options_.retry_first;
}

/// Tries to store the open batch when it is time, or looks whether a try has ended.
EventLoop::Turn EventLoop::store_open() {
  if (open_->is_beside) {
    const auto result = parts_.storing->receive();
    return result ? after_try(*result) : Turn{};
  }
  const MonoTime now = parts_.clock.mono();
  if (now < open_->next_try) return {std::nullopt, open_->next_try - now, true};
  open_->last_try = now;
  if (std::exchange(open_->is_tried, true)) {
    ++counters_.reruns;
  } else if (is_stored_beside(*open_)) {
    begin_beside();
    prepare_snapshot(*open_);
    return {};
  }
  return after_try(parts_.store.apply(epoch_, open_->effects.changes));
}

/// Whether it is worth two changes of threads; what is small is stored sooner by this one.
bool EventLoop::is_stored_beside(const Batch& batch) const {
  return parts_.storing != nullptr && rows_in(batch.effects.changes) >= options_.beside_from;
}

void EventLoop::begin_beside() {
  open_->last_try = parts_.clock.mono();
  open_->is_tried = open_->is_beside = true;
  answered_seen_ = answered_;
  parts_.storing->begin(epoch_, open_->effects.changes, std::move(open_->prepared));
}

/// While the database makes the open batch durable, it has nothing else to do: what was decided meanwhile is
/// put into its words, so that it can go on at once.
bool EventLoop::may_prepare() const {
  return open_ && open_->is_beside && !next_ && !batch_->effects.term_ends && is_stored_beside(*batch_) &&
         parts_.storing->has_written();
}

void EventLoop::prepare_next() {
  next_ = std::exchange(batch_, std::make_unique<Batch>());
  next_->prepared = parts_.storing->prepare(next_->effects.changes);
  ++counters_.prepared;
  prepare_snapshot(*next_);
}

/// What was decided while a batch was stored goes to the store before that one's words leave: the database
/// need not wait for them.
void EventLoop::begin_next() {
  if (batch_->effects.term_ends || (!next_ && !is_stored_beside(*batch_))) return;
  hand_over();
  begin_beside();
}

/// Beside the loop: it shows all that was decided so far, so it leaves with the newest batch.
void EventLoop::prepare_snapshot(Batch& newest) {
  const Now now = parts_.clock.now();
  if (wants_snapshot(now.mono)) newest.snapshot = make_snapshot(now);
}

EventLoop::Turn EventLoop::after_try(const store::ApplyResult& result) {
  open_->is_beside = false;
  const Micros took = parts_.clock.mono() - open_->last_try;
  batch_time_.add(std::chrono::duration<double>(took).count());
  note_delay(Delay::Of::Store, took);
  if (result.outcome == store::ApplyOutcome::Failed) ++failed_applies_;
  return after_store(result);
}

/// Waits for the end of a try beside the loop, if there is one.
std::optional<store::ApplyResult> EventLoop::wait_beside() {
  if (!open_ || !open_->is_beside) return std::nullopt;
  auto result = parts_.storing->receive();
  for (; !result; result = parts_.storing->receive()) parts_.storing->wait(options_.idle_wake, {});
  open_->is_beside = false;
  return result;
}

/// What the requests of this batch asked for can never be stored. The answer says so, and not "ask the
/// leader": otherwise the request that caused it would be repeated and end Term after Term.
TermEnd EventLoop::contradicted(const store::ApplyResult& result) {
  const std::string& why = result.detail;
  const Error refused(open_->maybe_stored ? ErrorCode::UnknownOutcome : ErrorCode::Internal,
                      "the leader could not store this: " + why);
  for (const core::Reply& open : std::exchange(open_->effects.replies, {})) {
    parts_.reply(open.token, refused);
  }
  return end({TermEnd::Why::Contradicted, why, {}, result.went_back});
}

EventLoop::Turn EventLoop::after_store(const store::ApplyResult& result) {
  using store::ApplyOutcome;
  if (result.outcome == ApplyOutcome::Applied) {
    const core::Changes& changes = open_->effects.changes;
    ++(changes.empty() ? counters_.bare_checks : counters_.batches);
    if (next_ || !batch_->effects.changes.empty()) ++counters_.beside;
    note_stored(changes);
    const std::unique_ptr<Batch> done = std::move(open_);
    const bool was_prepared = next_ != nullptr;
    begin_next();
    let_go(*done);
    if (open_ && !was_prepared) prepare_snapshot(*open_);
    return {};
  }
  if (result.outcome == ApplyOutcome::Fenced) {
    ++counters_.stale_refused;
    return {end({TermEnd::Why::Fenced, result.detail, result.found}), Micros{0}, false};
  }
  if (result.permanent) return {contradicted(result), Micros{0}, false};
  return after_failure(result);
}

EventLoop::Turn EventLoop::after_failure(const store::ApplyResult& result) {
  if (result.outcome == store::ApplyOutcome::Unknown) {
    ++counters_.unknown_applies;
    open_->maybe_stored = true;
  }
  const MonoTime now = parts_.clock.mono();
  const MonoTime give_up = *open_->first_try + options_.store_give_up;
  if (now >= give_up) {
    return {end({TermEnd::Why::StoreLost, result.detail, {}}), Micros{0}, false};
  }
  open_->next_try = std::min<MonoTime>(now + open_->pause, give_up);
  open_->pause = std::min(open_->pause * 2, options_.retry_most);
  return {std::nullopt, open_->next_try - now, true};
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
  bound_.note(ticks, open_->decided_in + (now.mono - *open_->first_try));
  if (!changes.watermark) return;
  std::scoped_lock lock(snapshot_mutex_);
  stored_watermark_ = changes.watermark;
}

/// Sends messages whose rows are stored; replies may still wait for their epoch check.
void EventLoop::send_all(Batch& batch) {
  for (core::Send& send : batch.effects.sends) parts_.sender.send(epoch_, std::move(send));
  if (const auto asked = std::exchange(batch.effects.list_workers, 0); asked != 0) {
    if (parts_.list_workers) {
      parts_.list_workers(asked);
    } else {
      (void)parts_.inbox.post(core::WorkersListed{asked});
    }
  }
  for (const model::WorkerKey& key : std::exchange(batch.effects.watch_beats, {})) {
    if (parts_.watch_beats) parts_.watch_beats(key);
  }
  for (const model::Notification& row : std::exchange(batch.effects.notifications, {})) {
    if (parts_.notify) parts_.notify(row);
  }
  for (const model::ScaleChange& row : std::exchange(batch.effects.hook_calls, {})) {
    if (parts_.call_hook) parts_.call_hook(row);
  }
  for (const core::Notice& notice : std::exchange(batch.effects.notices, {})) {
    if (parts_.notice) parts_.notice(notice);
  }
  batch.effects.sends.clear();
}

/// A batch is stored: all that waited for it leaves.
void EventLoop::let_go(Batch& stored) {
  const auto& settings = stored.effects.changes.settings;
  if (parts_.settings && !settings.empty()) parts_.settings(settings);
  send_all(stored);
  for (core::Reply& reply : stored.effects.replies) {
    parts_.reply(reply.token, std::move(reply.body));
  }
  if (!stored.snapshot) return;
  std::scoped_lock lock(snapshot_mutex_);
  snapshot_ = stored.snapshot;
}

TermEnd EventLoop::end(TermEnd why) {
  if (ended_) return *ended_;
  if (const auto last = wait_beside()) {
    if (last->outcome == store::ApplyOutcome::Unknown) open_->maybe_stored = true;
    if (last->outcome == store::ApplyOutcome::Applied) {
      const std::unique_ptr<Batch> done = std::move(open_);
      let_go(*done);
    }
  }
  ended_ = std::move(why);
  refuse_unhandled(parts_.inbox.close(), parts_.reply);
  if (open_) refuse_unstored(open_->effects.replies, open_->maybe_stored, parts_.reply);
  if (next_) refuse_unstored(next_->effects.replies, false, parts_.reply);
  refuse_unstored(batch_->effects.replies, false, parts_.reply);
  open_.reset();
  next_.reset();
  batch_ = std::make_unique<Batch>();
  return *ended_;
}

bool EventLoop::wants_snapshot(MonoTime now) const {
  return dirty_ && (!published_ || now - *published_ >= snapshot_pause_);
}

std::shared_ptr<const core::Snapshot> EventLoop::make_snapshot(Now now) {
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
  return fresh;
}

/// Only while all that was decided is stored; else it leaves with the batch that is being stored.
void EventLoop::publish(Now now) {
  if (open_ || !wants_snapshot(now.mono)) return;
  auto fresh = make_snapshot(now);
  std::scoped_lock lock(snapshot_mutex_);
  snapshot_ = std::move(fresh);
}

Micros EventLoop::time_to_wake(Now now) const {
  Micros wait = options_.idle_wake;
  if (!may_decide()) return wait;
  if (parts_.inbox.size() > 0) return Micros{0};
  const auto wake = parts_.scheduler.next_wake(now);
  if (wake && !batch_->time_passed) wait = std::min<Micros>(wait, *wake);
  if (open_) return wait;
  const auto sooner = [&](MonoTime at) {
    wait = std::clamp<Micros>(at - now.mono, Micros{0}, wait);
  };
  if (!batch_->effects.replies.empty()) sooner(batch_->since + options_.check_within);
  if (dirty_ && published_) sooner(*published_ + snapshot_pause_);
  return wait;
}

TermEnd EventLoop::run(std::stop_token stop, const std::function<void(const char*)>& heartbeat) {
  // A batch may be large and the database slow: each statement that it answers shows that nothing hangs.
  if (heartbeat) {
    parts_.store.tell_progress([this, &heartbeat, loop = std::this_thread::get_id()] {
      if (std::this_thread::get_id() == loop) {
        heartbeat("turning");
      } else {
        ++answered_;
      }
    });
  }
  const auto result = turn_until_end(stop, heartbeat);
  parts_.store.tell_progress({});
  return result;
}

/// While a batch is being stored beside the loop: whether the database has answered since the last look.
bool EventLoop::makes_progress() {
  if (!open_ || !open_->is_beside) return true;
  const std::int64_t now = answered_;
  return std::exchange(answered_seen_, now) != now;
}

TermEnd EventLoop::turn_until_end(const std::stop_token& stop,
                                  const std::function<void(const char*)>& heartbeat) {
  while (true) {
    if (stop.stop_requested()) return end({TermEnd::Why::Resigned, "asked to stop", {}});
    const Turn now = turn();
    if (now.ended) return *now.ended;
    if (heartbeat && makes_progress()) heartbeat(now.storing ? "waiting for the store" : "turning");
    if (now.wait <= Micros{0}) continue;
    const MonoTime due = parts_.clock.mono() + now.wait;
    rest(now, stop);
    note_delay(Delay::Of::Processor, parts_.clock.mono() - due);
  }
}

void EventLoop::rest(const Turn& turn, const std::stop_token& stop) {
  if (!turn.storing) {
    parts_.inbox.wait(turn.wait, stop);
  } else if (open_->is_beside) {
    parts_.storing->wait(turn.wait, stop);
  } else {
    pause(turn.wait, stop);
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
