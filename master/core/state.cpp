#include "master/core/state.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "master/core/attempts/run_rules.h"

namespace rota::master::core {

using model::Reason;
using model::RunState;

State::State(Epoch epoch, const CoreOptions& options, MonoTime began)
    : epoch_(epoch), options_(options), settings_(options), began_(began),
      workers_(mix(static_cast<std::uint64_t>(epoch.value))), ticks_(options.all_know_slices) {}

std::int64_t State::next_id() {
  ++id_counter_;
  CHECK_OR_DIE(id_counter_ < (std::int64_t{1} << kIdCounterBits), "a Term ran out of ids");
  return (epoch_.value << kIdCounterBits) + id_counter_;
}

void State::put_setting(model::SettingRow row) {
  settings_.put(std::move(row));
  static_cast<model::Settings&>(options_) = settings_.in_force();
}

WallTime State::recorded_through(const JobEntry& job) const {
  const WallTime own = std::max(job.valid_from, job.row.ticks_through.value_or(WallTime{}));
  return std::max(ticks_.watermark().of(job.row.id), own);
}

// --- a run on its way

RunEntry& State::add_run(RunEntry entry) {
  JobEntry* job = find_job(entry.row().job);
  CHECK_OR_DIE(job != nullptr, "a run of an unknown job");
  job->add_unfinished(entry.id());
  RunEntry& run = runs_.add(std::move(entry));
  run.job_ = job;
  quotas_.begin(job->row.space());
  if (run.is_bound()) starts_.bind(run.progress().start().worker, run.id());
  return run;
}

void State::set_state(RunEntry& run, RunState to, Reason reason, std::string detail) {
  CHECK_OR_DIE(!model::is_final(to), "a run ended without what follows an end");
  move_run(run, to, reason, std::move(detail));
}

void State::end_run(RunEntry& run, RunState to, Reason reason, std::string detail) {
  CHECK_OR_DIE(model::is_final(to), "a run ended in a state that is no end");
  move_run(run, to, reason, std::move(detail));
}

void State::move_run(RunEntry& run, RunState to, Reason reason, std::string detail) {
  CHECK_OR_DIE(may_follow(run.progress().state, to), "an illegal change of a run's state");
  if (run.waits_to_catch_up()) leave_catch_up(run);
  if (to != RunState::Queued) leave_slot_queue(run, to == RunState::Dispatched);
  const bool is_held = to == RunState::Dispatched || to == RunState::Running;
  if (run.is_held() && !is_held) {
    tokens_.give_back(run.id(), needs_of(run));
    slot_queues_.release(run);
    quotas_.release(run.rules().pool, run.job().row.space(), run.rules().slots);
  }
  if (!is_held) leave_worker(run);
  run.job().leave_behind(run.id());
  if (model::is_final(to)) {
    run.job().drop_unfinished(run.id());
    quotas_.end(run.job().row.space());
  }
  runs_.set_state(run, to, reason, std::move(detail));
}

/// It prefers some workers for a while, counted from the end of its delay, if it had one.
void State::enter_slot_queue(RunEntry& run, WallTime since) {
  if (run.in_slot_queue()) return;
  const KeptRules& rules = run.rules();
  const WallTime until = std::max(since, run.progress().not_before().value_or(since)) + rules.prefer_for;
  set_state(run, RunState::Queued, Reason::None);
  run.prefers_ = !rules.prefer.empty() && !run.is_bound() && until > core_time_;
  if (run.prefers_) preferring_.emplace_back(run.id(), until);
  join_slot_queue(run, since);
}

void State::enter_any_slot_queue(RunEntry& run) {
  if (run.in_slot_queue()) return;
  set_state(run, RunState::Queued, Reason::None);
  run.prefers_ = false;
  join_slot_queue(run, core_time_);
}

void State::stop_preferring(RunEntry& run) {
  if (!run.in_slot_queue() || !run.prefers_) return;
  leave_slot_queue(run, false);
  run.prefers_ = false;
  join_slot_queue(run, run.row().recorded);
}

void State::join_slot_queue(RunEntry& run, WallTime since) {
  const SlotQueueKey key = slot_queue_of(run);
  slot_queues_.enter(run, key, since);
  quotas_.enter_queue(key.pool, run.job().row.space());
  workers_.mark_pool(key.pool);
}

/// Its tokens are asked for by the next run of its queue, if there is one: anew when this one was sent. The
/// same holds for a worker that is kept for a wide one.
void State::leave_slot_queue(RunEntry& run, bool is_sent) {
  if (!run.in_slot_queue()) return;
  quotas_.leave_queue(run.rules().pool, run.job().row.space());
  const KeptRules& rules = run.rules();
  const bool is_wide = rules.slots != 1 || !rules.needs.empty();
  if (rules.uses.empty() && !is_wide) return slot_queues_.leave(run);
  const SlotQueueKey key = slot_queue_of(run);
  slot_queues_.leave(run);
  if (is_wide) quotas_.stop_keeping(run.id());
  if (!is_sent && slot_queues_.find(key) != nullptr) return;
  tokens_.leave(key);
  if (is_wide) workers_.stop_keeping(key);
}

void State::wait_behind(RunEntry& run, RunId other) {
  set_state(run, RunState::Waiting, Reason::WaitsForRun, std::to_string(other.value));
  restore_behind(run);
}

void State::wait_to_catch_up(RunEntry& run) {
  set_state(run, RunState::Waiting, Reason::CaughtUp);
  restore_catch_up(run);
}

void State::restore_catch_up(RunEntry& run) {
  run.job().wait_to_catch_up(run.id());
  catch_up_.enter(run);
}

void State::leave_catch_up(RunEntry& run) {
  catch_up_.leave(run);
  run.job().begin_to_catch_up(run.id());
}

void State::restore_behind(RunEntry& run) {
  run.job().add_behind(run.id());
}

void State::assign(RunEntry& run, LifeEntry& life, std::int32_t attempt, WallTime at) {
  slot_queues_.pass_turn(run, at);
  slot_queues_.hold(run);
  quotas_.hold(run.rules().pool, run.job().row.space(), run.rules().slots);
  set_state(run, RunState::Dispatched, Reason::None);
  tokens_.take(run.id(), needs_of(run));
  RunTrack& track = run.track_;
  track.attempt = attempt;
  RunTrack::More& more = track.more_.change();
  more.worker = life.shared_key();
  more.dispatched = at;
  more.started.reset();
  more.not_before.reset();
  run.life_ = &life;
  run.send = SendState{};
  run.timed_out = run.handed_over = false;
  workers_.dispatch(life, run, run.is_bound() ? model::RouteKind::Named : run.rules().route);
  work_.note_given(life.key().id, life.info().pool);
}

void State::move_attempt(RunEntry& run, const model::WorkerKey& to) {
  if (run.progress().worker() == to) return;
  leave_worker(run);
  LifeEntry& life = workers_.life_of(to);
  run.track_.more_.change().worker = life.shared_key();
  run.life_ = &life;
  workers_.hold(life, run);
}

void State::restore_held(RunEntry& run) {
  LifeEntry& life = workers_.restore_attempt(run.progress().worker(), run);
  run.track_.more_.change().worker = life.shared_key();
  run.life_ = &life;
  tokens_.take(run.id(), needs_of(run));
  slot_queues_.hold(run);
  quotas_.hold(run.rules().pool, run.job().row.space(), run.rules().slots);
}

void State::set_attempt_number(RunEntry& run, std::int32_t attempt) {
  CHECK_OR_DIE(!run.is_held(), "the number of an attempt changed while a worker held it");
  run.track_.attempt = attempt;
}

void State::set_past_worker(RunEntry& run, const model::WorkerKey& worker, WallTime dispatched) {
  CHECK_OR_DIE(!run.is_held(), "the worker of an attempt changed while another held it");
  run.track_.more_.change().worker = std::make_shared<const model::WorkerKey>(worker);
  run.track_.more_.change().dispatched = dispatched;
}

void State::leave_worker(RunEntry& run) {
  listings_.stop_waiting(run.id());
  if (LifeEntry* life = std::exchange(run.life_, nullptr)) workers_.release(*life, run);
}

void State::erase_run(RunId id) {
  const RunEntry* run = find_run(id);
  if (run == nullptr) return;
  CHECK_OR_DIE(model::is_final(run->progress().state), "an unfinished run was erased");
  const JobId job = run->row().job;
  if (run->is_bound()) starts_.unbind(run->progress().start().worker, id);
  runs_.erase(id);
  jobs_.forget_if_done(job);
}

}  // namespace rota::master::core
