#include "master/core/invariants.h"

#include <algorithm>

#include "master/core/admission/overlap.h"
#include "master/core/admission/quota_rules.h"
#include "master/core/workers/scale_desk.h"
#include "master/core/time/time_rules.h"

namespace rota::master::core {

using model::RunState;

namespace {

std::string at_run(const char* what, RunId id) {
  return std::string(what) + " (run " + std::to_string(id.value) + ")";
}

std::string at_job(const char* what, const JobEntry& job) {
  return std::string(what) + " (job " + job.row.space() + "/" + job.row.name + ")";
}

std::string at_life(const char* what, const LifeEntry& life) {
  return std::string(what) + " (worker " + life.key().id + ", life " + life.key().incarnation + ")";
}

std::string at_queue(const char* what, const SlotQueueKey& key) {
  const std::string worker = key.worker.empty() ? "" : ", worker " + key.worker;
  const std::string handler = key.handler.empty() ? "" : ", handler " + key.handler;
  return std::string(what) + " (queue of pool " + key.pool + worker + handler + ")";
}

std::string stranger_in(const State& state, const SlotQueue& queue, std::size_t most) {
  std::size_t left = most;
  for (const auto& [of, line] : queue.lines()) {
    for (const RunId id : line.runs) {
      if (left-- == 0) return "";
      const RunEntry* run = state.find_run(id);
      if (run == nullptr || !run->in_slot_queue()) {
        return at_run("a queue names a run that is not queued", id);
      }
    }
  }
  return "";
}

}  // namespace

std::string unknown_run(const State& state, const RunEntry& run) {
  const RunId id = run.id();
  const JobEntry* job = state.find_job(run.row().job);
  if (job == nullptr) return at_run("a run's job is missing", id);
  const IdSet<RunId>& named = run.waits_to_catch_up() ? job->caught_up() : job->unfinished();
  if (!named.contains(id)) return at_run("a run is missing at its job", id);
  if (run.waits_to_catch_up() && !state.catch_up().holds(run)) {
    return at_run("a late run is missing among those to be caught up", id);
  }
  const std::string& bound_to = run.progress().start().worker;
  if (run.is_bound() && !state.starts().runs_of(bound_to).contains(id)) {
    return at_run("a run of a worker start is missing at its worker", id);
  }
  if (run.is_bound() && run.is_held() && run.progress().worker().id != bound_to) {
    return at_run("a run of a worker start is held by another worker", id);
  }
  if (run.row().kind == model::RunKind::Child && run.progress().parentage().depth == 0) {
    return at_run("nobody knows where a child stands in its tree", id);
  }
  if (run.in_slot_queue()) {
    const SlotQueue* queue = state.slot_queues().find(slot_queue_of(run));
    const bool stands = queue != nullptr && queue->holds(run);
    return stands ? "" : at_run("a run is missing in its queue", id);
  }
  if (!run.is_held()) return "";
  const LifeEntry* life = state.find_life(run.progress().worker());
  const bool known = life != nullptr && life->attempts().contains(id);
  return known ? "" : at_run("a held attempt is missing at its worker", id);
}

std::string broken_run(const State& state, const RunEntry& run) {
  const RunId id = run.id();
  if (model::is_final(run.progress().state)) return at_run("a final run was kept", id);
  if (run.in_slot_queue() != (run.progress().state == RunState::Queued)) {
    return at_run("queued and queue differ", id);
  }
  if (run.in_slot_queue() || run.is_held() || state.runs().timers().has(id, RunTimer::RetryDelay)) return "";
  const JobEntry* job = state.find_job(run.row().job);
  const bool waits = job != nullptr && (job->behind().contains(id) || job->caught_up().contains(id));
  return waits ? "" : at_run("nothing will ever move a run", id);
}

std::string broken_job(const State& state, const JobEntry& job, std::size_t most) {
  const JobId id = job.row.id;
  std::size_t left = most;
  for (const RunId run_id : job.unfinished()) {
    if (left-- == 0) break;
    const RunEntry* run = state.find_run(run_id);
    if (run == nullptr) return at_run("a job names a run that is gone", run_id);
    if (run->row().job != id) return at_run("a job names another job's run", run_id);
  }
  left = most;
  for (const RunId run : job.behind()) {
    if (left-- == 0) break;
    if (!job.unfinished().contains(run)) return at_run("a finished run waits behind another", run);
  }
  if (!job.behind().empty() && has_place(job.rules(), job.under_way())) {
    return at_run("a run waits for others, and its job has a place for it", *job.behind().begin());
  }
  const std::optional<WallTime> next = job.next_tick();
  if (next && !state.jobs().is_due({*next, id})) return at_job("a due tick is not indexed", job);
  const WallTime recorded = state.recorded_through(job);
  if (next && *next <= recorded) return at_job("a recorded tick is due", job);
  const auto due = is_planned(job) ? job.row.memory().due : std::nullopt;
  if (due && *due <= recorded) return at_job("a job is due after an end at a moment that is recorded", job);
  return "";
}

namespace {

/// Nothing that is taken is forgotten; amounts of what was not proven dead stand beside those of its
/// attempts.
bool takes_so_much(const LifeEntry& life, const model::Demand& sum) {
  if (life.used_slots() != sum.slots) return false;
  if (life.unusable_slots() == 0) return life.used() == sum.needs;
  return std::ranges::all_of(sum.needs, [&](const auto& need) {
    return model::amount_of(life.used(), need.first) >= need.second;
  });
}

}  // namespace

std::string broken_life(const State& state, const LifeEntry& life, std::size_t most) {
  std::size_t left = most;
  model::Demand sum{0, {}};
  for (const RunId id : life.attempts()) {
    if (left-- == 0) break;
    const RunEntry* run = state.find_run(id);
    if (run == nullptr || !run->is_held() || run->progress().worker() != life.key()) {
      return at_run("a worker holds what is not its own", id);
    }
    sum.slots += run->rules().slots;
    model::add_amounts(sum.needs, run->rules().needs);
  }
  const bool is_whole = life.attempts().size() <= most;
  if (is_whole && !takes_so_much(life, sum)) {
    return at_life("a worker's slots and amounts are counted wrongly", life);
  }
  if (life.kept_for() != nullptr && state.slot_queues().find(*life.kept_for()) == nullptr) {
    return at_life("a worker is kept for a queue without runs", life);
  }
  const bool is_told_gone = life.left || state.departed().contains(life.key().id);
  if (life.is_present() && is_told_gone) return at_life("a worker that is here is listed as gone", life);
  if (!life.is_present() && life.attempts().empty()) {
    return at_life("a life without node or attempts was kept", life);
  }
  if (!state.workers().is_in_step(life)) return at_life("a worker stands wrongly in its pool", life);
  const bool is_open = state.workers().is_open(life);
  if (is_open == state.workers().may_take(life)) return "";
  return at_life(is_open ? "a worker that can take nothing is open" : "a worker with free slots gets nothing",
                 life);
}

std::string broken_slot_queue(const State& state, const SlotQueueKey& key, const SlotQueue& queue,
                              std::size_t most) {
  if (queue.empty()) return at_queue("an empty queue was kept", key);
  if (std::string broken = stranger_in(state, queue, most); !broken.empty()) return broken;
  const bool is_idle = !state.awaits_inventories() && state.workers().may_serve(key) &&
                       state.tokens().would_get(key) && !is_held_back(state, key);
  return is_idle ? at_queue("a run waits beside a free slot", key) : "";
}

std::string broken_whole(const State& state) {
  if (!state.runs().touched().empty()) return "a touched run was not written";
  const bool is_ahead = state.ticks().watermark().reaching > state.core_time();
  if (is_ahead) return "the watermark is ahead of the core's time";
  std::int64_t counted = 0;
  for (const std::int64_t count : state.runs().by_state()) counted += count;
  const bool fits = counted == static_cast<std::int64_t>(state.runs().size());
  return fits ? "" : "runs are not as many as their states";
}

std::string broken_calendar(const CalendarEntry& entry) {
  const model::CalendarRow& newest = entry.newest();
  const std::string at = " (calendar " + newest.space + "/" + newest.calendar->name + ")";
  const CalendarHistory& history = entry.history();
  if (newest.deleted && !history.empty()) return "a deleted calendar counts" + at;
  const bool is_in_order = std::ranges::is_sorted(history, std::ranges::less_equal{}, &CalendarVersion::from);
  if (!is_in_order && history.size() > 1) return "a calendar's versions do not follow each other" + at;
  const bool is_newest = history.empty() || history.back().from == newest.from;
  return is_newest ? "" : "the last version that counts is not the newest" + at;
}

std::string broken_semaphore(const State& state, const SemaphoreName& name, const TokenTable::Entry& entry) {
  const std::string at = " (semaphore " + name.first + "/" + name.second + ")";
  std::int64_t held = 0;
  for (const auto& [id, count] : entry.holders()) {
    const RunEntry* run = state.find_run(id);
    if (run == nullptr || !run->is_held()) return at_run("a run that nobody holds has tokens", id) + at;
    const TokenNeeds needs = needs_of(*run);
    const auto wanted = needs.find(name);
    if (wanted == needs.end() || wanted->second != count) {
      return at_run("a run has other tokens than it uses", id) + at;
    }
    held += count;
  }
  if (held != entry.held()) return "tokens are not as many as their holders have" + at;
  for (const auto& [ticket, line] : entry.waiting()) {
    if (state.slot_queues().find(*line) == nullptr) return "a line without runs waits for tokens" + at;
  }
  return "";
}

std::string broken_settings(const State& state) {
  const bool fits = static_cast<const model::Settings&>(state.options()) == state.settings().in_force();
  return fits ? "" : "decisions go by other settings than were set";
}

/// A number that this Term has looked at is within its limits; nothing runs on who may be stopped.
std::string broken_scaling(const State& state) {
  for (const auto& [pool, scale] : state.scaling().pools()) {
    const model::Quota& quota = state.quotas().quota(model::QuotaOf::Pool, pool);
    const bool is_within = scale.wanted >= least_workers(quota) && scale.wanted <= most_workers(quota);
    if (scale.is_known && !is_within) return "the wanted workers of a pool are not within its limits";
  }
  for (const auto& [id, worker] : state.scaling().leaving()) {
    const bool is_drained = state.workers().find_drain(id) != nullptr;
    if (!is_drained || !worker.named) continue;
    const LifeEntry* life = state.find_life(*worker.named);
    if (life != nullptr && !life->attempts().empty()) return "a worker that may be stopped has attempts";
  }
  return {};
}

std::string broken_quotas(const State& state) {
  struct Counted {
    std::int64_t held = 0, queued = 0, unfinished = 0;
    auto operator<=>(const Counted&) const = default;
  };
  std::map<std::string, Counted> pools, spaces;
  for (const auto& [id, run] : state.runs().all()) {
    Counted& space = spaces[run.job().row.space()];
    ++space.unfinished;
    for (Counted* one : {&pools[run.rules().pool], &space}) {
      one->held += run.is_held() ? run.rules().slots : 0;
      one->queued += run.in_slot_queue() ? 1 : 0;
    }
  }
  for (const auto& [name, counted] : spaces) {
    if (state.quotas().find(model::QuotaOf::Space, name) == nullptr) return "a namespace is not counted";
  }
  for (const auto& [name, counted] : pools) {
    const bool counts = counted.held + counted.queued > 0;
    if (counts && state.quotas().find(model::QuotaOf::Pool, name) == nullptr) return "a pool is not counted";
  }
  for (const model::QuotaOf of : {model::QuotaOf::Pool, model::QuotaOf::Space}) {
    auto& counted = of == model::QuotaOf::Pool ? pools : spaces;
    for (const auto& [name, side] : state.quotas().all(of)) {
      const Counted kept{side.held(), side.queued(), side.unfinished()};
      const std::string at = " (" + std::string(model::name_of(of)) + " " + name + ")";
      if (kept != counted[name]) return "runs are counted wrongly for limits" + at;
      if (of == model::QuotaOf::Pool) continue;
      const auto known = state.slot_queues().spaces().find(name);
      const bool fits = known == state.slot_queues().spaces().end() ||
                        (known->second.weight == side.quota().weight && known->second.held == side.held());
      if (!fits) return "a namespace has other shares than its weight says" + at;
    }
  }
  return "";
}

/// Jobs name runs of their own alone, and lives the attempts that they hold: so, where the numbers agree,
/// every run is named by its job and every held attempt by its worker.
std::string broken_invariant(const State& state) {
  std::string broken;
  std::size_t held = 0, caught_up = 0, named_by_jobs = 0, named_by_lives = 0;
  for (const auto& [id, run] : state.runs().all()) {
    if (broken = broken_run(state, run); !broken.empty()) return broken;
    held += run.is_held() ? 1 : 0;
  }
  for (const auto& [id, job] : state.jobs().all()) {
    if (broken = broken_job(state, job); !broken.empty()) return broken;
    named_by_jobs += job.unfinished().size() + job.caught_up().size();
    caught_up += job.caught_up().size();
  }
  for (const auto& [key, life] : state.workers().lives()) {
    if (broken = broken_life(state, life); !broken.empty()) return broken;
    named_by_lives += life.attempts().size();
  }
  if (named_by_jobs != state.runs().size() || named_by_lives != held) {
    for (const auto& [id, run] : state.runs().all()) {
      if (broken = unknown_run(state, run); !broken.empty()) return broken;
    }
  }
  if (caught_up != state.catch_up().size()) return "runs to be caught up are not as many as their jobs name";
  for (const auto& [id, worker] : state.workers().workers()) {
    if (!state.workers().has_life(id)) return "a worker id without lives was kept";
  }
  for (const auto& [name, users] : state.jobs().calendar_users()) {
    if (state.calendars().find(name.first, name.second) == nullptr) {
      return "a job uses a calendar that does not exist (" + name.first + "/" + name.second + ")";
    }
  }
  for (const auto& [name, calendar] : state.calendars().all()) {
    if (broken = broken_calendar(calendar); !broken.empty()) return broken;
  }
  for (const auto& [name, semaphore] : state.tokens().all()) {
    if (broken = broken_semaphore(state, name, semaphore); !broken.empty()) return broken;
  }
  if (broken = broken_quotas(state); !broken.empty()) return broken;
  if (broken = broken_scaling(state); !broken.empty()) return broken;
  if (broken = broken_settings(state); !broken.empty()) return broken;
  for (const auto& [key, queue] : state.slot_queues().all()) {
    if (broken = broken_slot_queue(state, key, queue); !broken.empty()) return broken;
  }
  return broken_whole(state);
}

}  // namespace rota::master::core
