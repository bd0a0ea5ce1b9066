#include "master/core/state.h"

#include <algorithm>

#include "common/base/check.h"
#include "master/core/attempts/run_rules.h"

namespace rota::master::core {

using model::Reason;
using model::RunState;

SlotQueueKey slot_queue_of(const model::JobRules& rules) {
  return {rules.pool, rules.route == model::RouteKind::Named ? rules.worker : std::string{}};
}

State::State(Epoch epoch_in, const CoreOptions& options_in, MonoTime began_in)
    : epoch(epoch_in), options(options_in), began(began_in), all_know_slices(options_in.all_know_slices) {}

std::int64_t State::next_id() {
  ++counter_;
  CHECK_OR_DIE(counter_ < (std::int64_t{1} << kIdCounterBits), "a Term ran out of ids");
  return (epoch.value << kIdCounterBits) + counter_;
}

// --- jobs

JobEntry& State::add_job(JobEntry entry) {
  const JobId id = entry.row.id;
  const auto tick = std::exchange(entry.next_tick, std::nullopt);
  if (!entry.row.one_off && entry.row.state != model::JobState::Deleted) {
    names[{entry.row.space, entry.row.name}] = id;
  }
  const auto [at, added] = jobs.emplace(id, std::move(entry));
  CHECK_OR_DIE(added, "a job was added twice");
  count_grace(at->second, 1);
  set_next_tick(at->second, tick);
  return at->second;
}

void State::erase_job(JobId id) {
  JobEntry* job = find_job(id);
  if (job == nullptr) return;
  CHECK_OR_DIE(job->unfinished.empty(), "a job with unfinished runs was erased");
  set_next_tick(*job, std::nullopt);
  count_grace(*job, -1);
  release_name(*job);
  jobs.erase(id);
}

void State::forget_job_if_done(JobId id) {
  const JobEntry* job = find_job(id);
  if (job == nullptr || !job->unfinished.empty()) return;
  if (job->row.one_off || job->row.state == model::JobState::Deleted) erase_job(id);
}

JobEntry* State::find_job(JobId id) {
  const auto found = jobs.find(id);
  return found == jobs.end() ? nullptr : &found->second;
}

const JobEntry* State::find_job(JobId id) const {
  const auto found = jobs.find(id);
  return found == jobs.end() ? nullptr : &found->second;
}

JobEntry* State::find_named(const std::string& space, const std::string& name) {
  const auto found = names.find({space, name});
  return found == names.end() ? nullptr : find_job(found->second);
}

void State::release_name(const JobEntry& job) {
  const auto found = names.find({job.row.space, job.row.name});
  if (found != names.end() && found->second == job.row.id) names.erase(found);
}

void State::note_deleted(const JobEntry& job) {
  newly_deleted.emplace_back(job.row.id, job.row.version);
  if (newly_deleted.size() > kDeletedMost) newly_deleted.pop_front();
}

void State::set_next_tick(JobEntry& job, std::optional<WallTime> tick) {
  if (job.next_tick) {
    due.erase({*job.next_tick, job.row.id});
    due_often.erase({*job.next_tick, job.row.id});
  }
  job.next_tick = tick;
  if (!tick) return;
  due.insert({*tick, job.row.id});
  if (job.schedule.fires_often()) due_often.insert({*tick, job.row.id});
}

void State::set_rules(JobEntry& job, RulesPtr rules) {
  count_grace(job, -1);
  job.rules = std::move(rules);
  count_grace(job, 1);
}

void State::count_grace(const JobEntry& job, std::int64_t change) {
  if (job.row.one_off) return;
  const auto at = graces.try_emplace(job.rules->tick_grace, 0).first;
  at->second += change;
  if (at->second == 0) graces.erase(at);
}

WallTime State::recorded_through(const JobEntry& job) const {
  const WallTime own = std::max(job.valid_from, job.row.ticks_through.value_or(WallTime{}));
  return std::max(watermark.of(job.row.id), own);
}

// --- runs

RunEntry& State::add_run(RunEntry entry) {
  const RunId id = entry.row.id;
  JobEntry* job = find_job(entry.row.job);
  CHECK_OR_DIE(job != nullptr, "a run of an unknown job");
  job->unfinished.insert(id);
  const auto [at, added] = runs.emplace(id, std::move(entry));
  CHECK_OR_DIE(added, "a run was added twice");
  ++runs_by_state[at->second.progress().state];
  return at->second;
}

RunEntry* State::find_run(RunId id) {
  const auto found = runs.find(id);
  return found == runs.end() ? nullptr : &found->second;
}

const RunEntry* State::find_run(RunId id) const {
  const auto found = runs.find(id);
  return found == runs.end() ? nullptr : &found->second;
}

void State::set_state(RunEntry& run, RunState to, Reason reason, std::string detail) {
  CHECK_OR_DIE(may_follow(run.progress().state, to), "an illegal change of a run's state");
  if (to != RunState::Queued) leave_slot_queue(run);
  if (to != RunState::Dispatched && to != RunState::Running) leave_worker(run);
  if (JobEntry* job = find_job(run.row.job)) {
    job->behind.erase(run.row.id);
    if (model::is_final(to)) job->unfinished.erase(run.row.id);
  }
  --runs_by_state[run.progress().state];
  ++runs_by_state[to];
  run.progress().state = to;
  run.progress().reason = reason;
  run.progress().detail = std::move(detail);
  if (model::is_final(to)) run_timers.clear_all(run.row.id);
}

void State::enter_slot_queue(RunEntry& run) {
  if (run.in_slot_queue) return;
  const SlotQueueKey key = slot_queue_of(*run.rules);
  set_state(run, RunState::Queued, Reason::None);
  slot_queues[key].jobs[run.row.job].insert(run.row.id);
  run.in_slot_queue = true;
  pools_to_pump.insert(key.pool);
}

void State::leave_slot_queue(RunEntry& run) {
  if (!run.in_slot_queue) return;
  run.in_slot_queue = false;
  const auto queue = slot_queues.find(slot_queue_of(*run.rules));
  CHECK_OR_DIE(queue != slot_queues.end(), "a run's queue is missing");
  const auto of_job = queue->second.jobs.find(run.row.job);
  CHECK_OR_DIE(of_job != queue->second.jobs.end(), "a run is missing in its queue");
  of_job->second.erase(run.row.id);
  if (of_job->second.empty()) queue->second.jobs.erase(of_job);
  if (queue->second.jobs.empty()) slot_queues.erase(queue);
}

void State::wait_behind(RunEntry& run, RunId other) {
  set_state(run, RunState::Waiting, Reason::WaitsForRun, std::to_string(other.value));
  if (JobEntry* job = find_job(run.row.job)) job->behind.insert(run.row.id);
}

void State::assign(RunEntry& run, LifeEntry& life, std::int32_t attempt, WallTime at) {
  set_state(run, RunState::Dispatched, Reason::None);
  model::RunProgress& progress = run.progress();
  progress.attempt = attempt;
  progress.worker = life.info.key;
  progress.dispatched = at;
  progress.started.reset();
  progress.not_before.reset();
  run.send = SendState{};
  run.timed_out = run.handed_over = false;
  life.attempts.insert(run.row.id);
  ++life.dispatched_total;
  life.last_used = ++dispatch_ordinal;
  refresh(life);
}

void State::move_attempt(RunEntry& run, const model::WorkerKey& to) {
  if (run.progress().worker == to) return;
  leave_worker(run);
  run.progress().worker = to;
  LifeEntry& life = life_of(to);
  life.attempts.insert(run.row.id);
  refresh(life);
}

void State::leave_worker(RunEntry& run) {
  past_fence.erase(run.row.id);
  LifeEntry* life = find_life(run.progress().worker);
  if (life == nullptr || life->attempts.erase(run.row.id) == 0) return;
  refresh(*life);
  forget_life_if_done(run.progress().worker);
}

void State::erase_run(RunId id) {
  RunEntry* run = find_run(id);
  if (run == nullptr) return;
  CHECK_OR_DIE(model::is_final(run->progress().state), "an unfinished run was erased");
  const JobId job = run->row.job;
  --runs_by_state[run->progress().state];
  runs.erase(id);
  forget_job_if_done(job);
}

// --- workers

LifeEntry& State::life_of(const model::WorkerKey& key) {
  LifeEntry& life = lives[key];
  life.info.key = key;
  return life;
}

LifeEntry* State::find_life(const model::WorkerKey& key) {
  const auto found = lives.find(key);
  return found == lives.end() ? nullptr : &found->second;
}

void State::refresh(LifeEntry& life) {
  const auto worker = workers.find(life.info.key.id);
  const bool sole = worker != workers.end() && worker->second.present.size() == 1;
  const bool is_open = life.present && sole && life.reconciled && !is_draining(life) && !life.resting &&
                       life.free_slots() > 0;
  const std::string& pool = life.info.pool;
  if (is_open) {
    open[pool].insert(life.info.key);
    pools_to_pump.insert(pool);
    return;
  }
  const auto found = open.find(pool);
  if (found == open.end()) return;
  found->second.erase(life.info.key);
  if (found->second.empty()) open.erase(found);
}

void State::forget_life_if_done(const model::WorkerKey& key) {
  const auto found = lives.find(key);
  if (found == lives.end() || found->second.present || !found->second.attempts.empty()) return;
  life_timers.clear_all(key);
  confirmed.erase(key);
  lives.erase(found);
  const auto next = lives.lower_bound({key.id, ""});
  const bool is_last = next == lives.end() || next->first.id != key.id;
  if (is_last) workers.erase(key.id);  // nothing of it is held, so nothing has to be fenced
}

std::vector<RunId> State::runs_on(const std::string& worker_id) const {
  std::vector<RunId> all;
  for (auto at = lives.lower_bound({worker_id, ""}); at != lives.end() && at->first.id == worker_id;
       ++at) {
    all.insert(all.end(), at->second.attempts.begin(), at->second.attempts.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

void State::give_up(model::AttemptKey key) {
  if (!given_up.insert(key).second) return;
  given_up_order.push_back(key);
  while (given_up_order.size() > kGivenUpMost) {
    given_up.erase(given_up_order.front());
    given_up_order.pop_front();
  }
}

}  // namespace rota::master::core
