#include "master/core/invariants.h"

namespace rota::master::core {

using model::RunState;

namespace {

std::string at_run(const char* what, RunId id) {
  return std::string(what) + " (run " + std::to_string(id.value) + ")";
}

/// Whether its job and its worker know of it.
std::string unknown_run(const State& state, RunId id, const RunEntry& run) {
  const JobEntry* job = state.find_job(run.row().job);
  if (job == nullptr) return at_run("a run's job is missing", id);
  if (!job->unfinished().contains(id)) return at_run("a run is missing at its job", id);
  if (!run.is_held()) return "";
  const LifeEntry* life = state.find_life(run.progress().worker);
  const bool known = life != nullptr && life->attempts().contains(id);
  return known ? "" : at_run("a held attempt is missing at its worker", id);
}

std::string broken_run(const State& state, RunId id, const RunEntry& run) {
  if (model::is_final(run.progress().state)) return at_run("a final run was kept", id);
  if (run.in_slot_queue() != (run.progress().state == RunState::Queued)) {
    return at_run("queued and queue differ", id);
  }
  if (run.in_slot_queue() || run.is_held() || state.runs().timers().has(id, RunTimer::RetryDelay)) return "";
  const JobEntry* job = state.find_job(run.row().job);
  const bool waits = job != nullptr && job->behind().contains(id);
  return waits ? "" : at_run("nothing will ever move a run", id);
}

std::string broken_job(const State& state, JobId id, const JobEntry& job) {
  for (const RunId run_id : job.unfinished()) {
    const RunEntry* run = state.find_run(run_id);
    if (run == nullptr) return at_run("a job names a run that is gone", run_id);
    if (run->row().job != id) return at_run("a job names another job's run", run_id);
  }
  for (const RunId run : job.behind()) {
    if (!job.unfinished().contains(run)) return at_run("a finished run waits behind another", run);
  }
  if (!job.behind().empty() && job.behind().size() == job.unfinished().size()) {
    return at_run("runs wait, and none of their job goes on", *job.behind().begin());
  }
  if (job.next_tick() && !state.jobs().is_due({*job.next_tick(), id})) return "a due tick is not indexed";
  if (job.next_tick() && *job.next_tick() <= state.recorded_through(job)) return "a recorded tick is due";
  return "";
}

std::string broken_life(const State& state, const model::WorkerKey& key, const LifeEntry& life) {
  for (const RunId id : life.attempts()) {
    const RunEntry* run = state.find_run(id);
    if (run == nullptr || !run->is_held() || run->progress().worker != key) {
      return at_run("a worker holds what is not its own", id);
    }
  }
  const bool is_told_gone = life.left || state.departed().contains(key.id);
  if (life.is_present() && is_told_gone) return "a worker that is here is told of as gone";
  if (!life.is_present() && life.attempts().empty()) return "a life without node or attempts was kept";
  const bool may_take = life.is_present() && life.is_reconciled() && life.free_slots() > 0;
  if (state.workers().is_open(life) && !may_take) {
    return "a worker that can take nothing is open";
  }
  return "";
}

std::string broken_slot_queue(const State& state, const SlotQueueKey& key, const SlotQueue& queue) {
  if (queue.empty()) return "an empty queue was kept";
  for (const auto& [job, runs] : queue.jobs()) {
    for (const RunId id : runs) {
      const RunEntry* run = state.find_run(id);
      if (run == nullptr || !run->in_slot_queue()) return at_run("a queue holds what is not queued", id);
    }
  }
  if (state.awaits_inventories()) return "";
  for (const model::WorkerKey& worker : state.workers().open_in(key.pool)) {
    if (key.worker.empty() || key.worker == worker.id) return "a run waits beside a free slot";
  }
  return "";
}

}  // namespace

/// Jobs name runs of their own alone, and lives the attempts that they hold: so, where the numbers agree,
/// every run is named by its job and every held attempt by its worker.
std::string broken_invariant(const State& state) {
  std::string broken;
  std::size_t held = 0, named_by_jobs = 0, named_by_lives = 0;
  for (const auto& [id, run] : state.runs().all()) {
    if (broken = broken_run(state, id, run); !broken.empty()) return broken;
    held += run.is_held() ? 1 : 0;
  }
  for (const auto& [id, job] : state.jobs().all()) {
    if (broken = broken_job(state, id, job); !broken.empty()) return broken;
    named_by_jobs += job.unfinished().size();
  }
  for (const auto& [key, life] : state.workers().lives()) {
    if (broken = broken_life(state, key, life); !broken.empty()) return broken;
    named_by_lives += life.attempts().size();
  }
  if (named_by_jobs != state.runs().size() || named_by_lives != held) {
    for (const auto& [id, run] : state.runs().all()) {
      if (broken = unknown_run(state, id, run); !broken.empty()) return broken;
    }
  }
  for (const auto& [id, worker] : state.workers().workers()) {
    if (!state.workers().has_life(id)) return "a worker id without lives was kept";
  }
  for (const auto& [key, queue] : state.slot_queues().all()) {
    if (broken = broken_slot_queue(state, key, queue); !broken.empty()) return broken;
  }
  if (!state.runs().touched().empty()) return "a touched run was not written";
  const bool is_ahead = state.ticks().watermark().reaching > state.core_time();
  if (is_ahead) return "the watermark is ahead of the core's time";
  return "";
}

}  // namespace rota::master::core
