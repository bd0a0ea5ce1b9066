#include "master/core/state.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "master/core/attempts/run_rules.h"

namespace rota::master::core {

using model::Reason;
using model::RunState;

State::State(Epoch epoch, const CoreOptions& options, MonoTime began)
    : epoch_(epoch), options_(options), began_(began), ticks_(options.all_know_slices) {}

std::int64_t State::next_id() {
  ++id_counter_;
  CHECK_OR_DIE(id_counter_ < (std::int64_t{1} << kIdCounterBits), "a Term ran out of ids");
  return (epoch_.value << kIdCounterBits) + id_counter_;
}

WallTime State::recorded_through(const JobEntry& job) const {
  const WallTime own = std::max(job.valid_from, job.row.ticks_through.value_or(WallTime{}));
  return std::max(ticks_.watermark().of(job.row.id), own);
}

// --- a run on its way

RunEntry& State::add_run(RunEntry entry) {
  JobEntry* job = find_job(entry.row().job);
  CHECK_OR_DIE(job != nullptr, "a run of an unknown job");
  job->unfinished_.insert(entry.id());
  return runs_.add(std::move(entry));
}

void State::set_state(RunEntry& run, RunState to, Reason reason, std::string detail) {
  CHECK_OR_DIE(may_follow(run.progress().state, to), "an illegal change of a run's state");
  if (to != RunState::Queued) slot_queues_.leave(run);
  if (to != RunState::Dispatched && to != RunState::Running) leave_worker(run);
  if (JobEntry* job = find_job(run.row().job)) {
    job->behind_.erase(run.id());
    if (model::is_final(to)) job->unfinished_.erase(run.id());
  }
  runs_.set_state(run, to, reason, std::move(detail));
}

void State::enter_slot_queue(RunEntry& run) {
  if (run.in_slot_queue()) return;
  const SlotQueueKey key = slot_queue_of(run.rules());
  set_state(run, RunState::Queued, Reason::None);
  slot_queues_.enter(run, key);
  workers_.mark_pool(key.pool);
}

void State::wait_behind(RunEntry& run, RunId other) {
  set_state(run, RunState::Waiting, Reason::WaitsForRun, std::to_string(other.value));
  restore_behind(run);
}

void State::restore_behind(RunEntry& run) {
  if (JobEntry* job = find_job(run.row().job)) job->behind_.insert(run.id());
}

void State::assign(RunEntry& run, LifeEntry& life, std::int32_t attempt, WallTime at) {
  set_state(run, RunState::Dispatched, Reason::None);
  model::RunProgress& progress = run.row_.progress;
  progress.attempt = attempt;
  progress.worker = life.key();
  progress.dispatched = at;
  progress.started.reset();
  progress.not_before.reset();
  run.send = SendState{};
  run.timed_out = run.handed_over = false;
  workers_.dispatch(life, run.id());
}

void State::move_attempt(RunEntry& run, const model::WorkerKey& to) {
  if (run.progress().worker == to) return;
  leave_worker(run);
  run.row_.progress.worker = to;
  workers_.hold(workers_.life_of(to), run.id());
}

void State::restore_held(RunEntry& run) { workers_.restore_attempt(run.progress().worker, run.id()); }

void State::set_attempt_number(RunEntry& run, std::int32_t attempt) {
  CHECK_OR_DIE(!run.is_held(), "the number of an attempt changed while a worker held it");
  run.row_.progress.attempt = attempt;
}

void State::set_past_worker(RunEntry& run, const model::WorkerKey& worker, WallTime dispatched) {
  CHECK_OR_DIE(!run.is_held(), "the worker of an attempt changed while another held it");
  run.row_.progress.worker = worker;
  run.row_.progress.dispatched = dispatched;
}

void State::leave_worker(const RunEntry& run) {
  listings_.stop_waiting(run.id());
  workers_.release(run.progress().worker, run.id());
}

void State::erase_run(RunId id) {
  const RunEntry* run = find_run(id);
  if (run == nullptr) return;
  CHECK_OR_DIE(model::is_final(run->progress().state), "an unfinished run was erased");
  const JobId job = run->row().job;
  runs_.erase(id);
  jobs_.forget_if_done(job);
}

}  // namespace rota::master::core
