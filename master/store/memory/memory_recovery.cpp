// What a new Term starts from, as MemoryStore tells it.
#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "master/core/definition_hash.h"
#include "master/core/tables/slot_queue_key.h"
#include "master/store/calendars.h"
#include "master/store/mysql/job_rows.h"
#include "master/store/memory/memory_store.h"
#include "master/store/memory/memory_tables.h"
#include "master/store/expect_zones.h"
#include "master/store/newest_lives.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

bool is_held(model::RunState state) {
  return state == model::RunState::Dispatched || state == model::RunState::Running;
}

/// No worker reported the loss: a worker's report would say when it started.
bool is_given_up(const model::Outcome& outcome) {
  return outcome.reason == model::Reason::WorkerLost && outcome.started == WallTime{};
}

/// Attempts counted as lost without a proof, whose results may still come.
std::vector<model::AttemptKey> given_up_in(const auto& tables) {
  std::vector<model::AttemptKey> keys;
  std::size_t looked_at = 0;
  for (auto at = tables.attempts.rbegin(); at != tables.attempts.rend(); ++at) {
    if (++looked_at > kGivenUpAttempts) break;
    const model::AttemptRow& attempt = at->second;
    if (attempt.late || attempt.outcome.state != model::RunState::Lost) continue;
    if (is_given_up(attempt.outcome)) keys.push_back({attempt.run, attempt.attempt});
  }
  looked_at = 0;
  for (auto at = tables.runs.rbegin(); at != tables.runs.rend(); ++at) {
    const model::RunProgress& progress = at->second.progress;
    if (progress.state != model::RunState::Lost) continue;
    if (++looked_at > kGivenUpLostRuns) break;
    if (tables.attempts.contains({at->first, progress.attempt})) continue;
    if (is_given_up(progress.outcome)) keys.push_back({at->first, progress.attempt});
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// Attempts of the run that count against its retry rule.
std::int32_t failures_of(const auto& tables, RunId run) {
  std::int32_t count = 0;
  for (auto at = tables.attempts.lower_bound({run, 0});
       at != tables.attempts.end() && at->first.first == run; ++at) {
    const model::RunState state = at->second.outcome.state;
    const bool failed = state == model::RunState::Failed || state == model::RunState::TimedOut;
    if (failed && !at->second.late && has_outcome(at->second.outcome)) ++count;
  }
  return count;
}

/// Those that failed, by exit status.
void add_failed_exits(const auto& tables, RunId run, std::vector<core::RecoveredExits>& into) {
  std::map<std::int32_t, std::int32_t> counts;
  for (auto at = tables.attempts.lower_bound({run, 0});
       at != tables.attempts.end() && at->first.first == run; ++at) {
    const model::Outcome& outcome = at->second.outcome;
    const bool failed = outcome.state == model::RunState::Failed && !at->second.late && has_outcome(outcome);
    if (failed && outcome.exit_status > 0) ++counts[outcome.exit_status];
  }
  for (const auto& [exit_status, count] : counts) into.push_back({run, exit_status, count});
}

std::optional<WallTime> first_dispatched_of(const auto& tables, RunId run) {
  std::optional<WallTime> first;
  for (auto at = tables.attempts.lower_bound({run, 0});
       at != tables.attempts.end() && at->first.first == run; ++at) {
    const std::optional<WallTime> dispatched = at->second.dispatched;
    if (dispatched && (!first || *dispatched < *first)) first = dispatched;
  }
  return first;
}

/// Of lives for which attempts are stored.
std::vector<model::WorkerDeath> confirmed_in(const auto& tables) {
  std::set<model::WorkerKey> holders;
  for (const auto& [id, run] : tables.runs) {
    if (is_held(run.progress.state)) holders.insert(run.progress.worker);
  }
  std::vector<model::WorkerDeath> out;
  for (const auto& [life, death] : tables.deaths) {
    if (!death.came_back && holders.contains(life)) out.push_back(death);
  }
  return out;
}

/// The rules of unfinished runs whose job has been edited since.
std::vector<model::LateRow> told_in(const MemoryTables& tables) {
  std::vector<model::LateRow> out;
  for (const auto& [key, row] : tables.late) {
    const auto run = tables.runs.find(row.run);
    const auto job = tables.jobs.find(row.job);
    const bool is_open = run != tables.runs.end() && !model::is_final(run->second.progress.state);
    const bool is_paused = row.was == model::kWasPaused && job != tables.jobs.end() &&
                           job->second.state == model::JobState::Paused;
    if (is_open || is_paused || row.what == model::ToldOnce::WorkerDead) out.push_back(row);
  }
  return out;
}

std::vector<core::RecoveredRules> older_rules_in(const auto& tables) {
  std::map<std::pair<JobId, JobVersion>, core::RecoveredRules> all;
  for (const auto& [id, run] : tables.runs) {
    if (model::is_final(run.progress.state)) continue;
    const auto job = tables.jobs.find(run.job);
    const auto version = tables.versions.find({run.job, run.version});
    if (job == tables.jobs.end() || version == tables.versions.end()) continue;
    if (job->second.version == run.version) continue;
    auto rules = std::make_shared<const core::KeptRules>(*version->second.definition);
    all.insert_or_assign({run.job, run.version},
                         core::RecoveredRules{run.job, run.version, std::move(rules)});
  }
  std::vector<core::RecoveredRules> out;
  for (auto& [key, one] : all) out.push_back(std::move(one));
  return out;
}

Result<core::RecoveredJob> recovered_job(const model::Job& job, const model::JobVersionRow& newest,
                                         const ZoneSource& zones) {
  const model::JobDefinition& definition = *newest.definition;
  auto needed = zones_of(definition.rules.schedule, zones);
  if (!needed) return fail(ErrorCode::Unsupported, needed.error().message);
  core::RecoveredJob one;
  one.job = job;
  one.rules = std::make_shared<const core::KeptRules>(definition);
  one.zone = std::move(*needed);
  one.valid_from = newest.valid_from;
  one.anchor = newest.anchor;
  one.definition_hash = core::definition_hash(definition);
  return one;
}

/// Lives that hold attempts, and that this cluster's ZooKeeper has not seen since it is another one.
std::vector<model::WorkerKey> unseen_in(const auto& tables) {
  const std::int64_t below = tables.zookeeper ? tables.zookeeper->wait_below : 0;
  std::set<model::WorkerKey> keys;
  for (const auto& [id, run] : tables.runs) {
    if (!is_held(run.progress.state)) continue;
    const auto life = tables.lives.find(run.progress.worker);
    if ((life == tables.lives.end() ? 0 : life->second.seen_in) < below) keys.insert(run.progress.worker);
  }
  return {keys.begin(), keys.end()};
}

/// Of each worker and state folder the last one that was accepted; the newest first.
std::vector<model::WorkerStart> newest_starts_in(const auto& tables) {
  std::map<std::pair<std::string, std::string>, model::WorkerStart> last;
  for (const auto& [key, start] : tables.starts) {
    model::WorkerStart& known = last[{key.worker, start.home}];
    if (known.number < start.number) known = start;
  }
  std::vector<model::WorkerStart> all;
  for (auto& [place, start] : last) all.push_back(std::move(start));
  std::ranges::sort(all, std::ranges::greater(), &model::WorkerStart::number);
  if (all.size() > kNewestStartsMost) all.resize(kNewestStartsMost);
  return all;
}

}  // namespace

std::int64_t held_in(const MemoryTables& tables) {
  return std::ranges::count_if(tables.runs,
                               [](const auto& run) { return is_held(run.second.progress.state); });
}

Result<core::Recovered> MemoryStore::recover() {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  return recover_from(*tables_, zones_);
}

Result<core::Recovered> recover_from(const MemoryTables& tables, const ZoneSource& zones) {
  core::Recovered recovered;
  recovered.watermark = tables.watermark;
  std::set<JobId> busy;
  for (const auto& [id, run] : tables.runs) {
    if (model::is_final(run.progress.state)) continue;
    recovered.runs.push_back(run);
    model::RunProgress& progress = recovered.runs.back().progress;
    progress.first_dispatched.reset();
    if (progress.attempt > 0) {
      progress.failures = failures_of(tables, id);
      progress.first_dispatched = first_dispatched_of(tables, id);
      add_failed_exits(tables, id, recovered.failed_exits);
    }
    busy.insert(run.job);
  }
  for (const auto& [id, job] : tables.jobs) {
    if (!holds_its_name(job) && !busy.contains(id)) continue;
    const auto version = tables.versions.find({id, job.version});
    if (version == tables.versions.end()) continue;
    auto one = recovered_job(job, version->second, zones);
    if (!one) return fail(one.error());
    recovered.jobs.push_back(std::move(*one));
  }
  const bool was_rewound = std::ranges::any_of(tables.rewinds, [&](const PastRewind& rewind) {
    return tables.watermark && rewind.from > tables.watermark->through;
  });
  for (const auto& [tick, run] : tables.run_of_tick) {
    if (was_rewound && tick.second > tables.watermark->through) recovered.taken.push_back(tick);
  }
  recovered.older_rules = older_rules_in(tables);
  recovered.given_up = given_up_in(tables);
  if (tables.zookeeper) recovered.zookeeper_number = tables.zookeeper->number;
  recovered.unseen = unseen_in(tables);
  recovered.confirmed = confirmed_in(tables);
  for (const auto& [id, freeze] : tables.freezes) {
    const bool lies_ahead = tables.watermark && freeze.end() > tables.watermark->through;
    if (!freeze.done || lies_ahead) recovered.freezes.push_back(freeze);
  }
  recovered.starts = newest_starts_in(tables);
  for (const auto& [key, row] : tables.children) {
    const auto run = tables.runs.find(row.run);
    if (run == tables.runs.end() || model::is_final(run->second.progress.state)) continue;
    recovered.children.push_back(row);
  }
  for (const auto& [parent, row] : tables.children_owed) recovered.children_owed.push_back(row);
  for (const auto& [number, hold] : tables.holds) {
    if (!hold.ended) recovered.holds.push_back(hold);
  }
  for (const auto& [worker, drain] : tables.drains) {
    if (drain.draining) recovered.drains.push_back(drain);
  }
  std::map<core::SemaphoreName, model::SemaphoreRow> newest;
  for (const auto& [key, row] : tables.semaphores) newest[{row.space, row.name}] = row;
  for (const auto& [name, row] : newest) recovered.semaphores.push_back(row);
  recovered.quotas = quotas_of_term_in(tables);
  recovered.settings = newest_settings_in(tables);
  for (const auto& [id, row] : tables.notifications) {
    if (row.state == model::Delivery::Open) recovered.notifications.push_back(row);
  }
  std::map<std::string, model::ScaleChange> newest_scaling;
  for (const auto& [id, row] : tables.scaling) newest_scaling.insert_or_assign(row.pool, row);
  for (auto& [pool, row] : newest_scaling) recovered.scaling.push_back(std::move(row));
  std::ranges::sort(recovered.scaling, {}, &model::ScaleChange::id);
  recovered.told = told_in(tables);
  for (const auto& [job, row] : tables.paces) recovered.paces.push_back(row);
  find_expect_zones(recovered, zones);
  std::vector<model::CalendarRow> calendars;
  for (const auto& [key, row] : tables.calendars) calendars.push_back(row);
  recovered.calendars = calendars_to_recover(std::move(calendars), recovered, zones);
  std::vector<core::WorkerLife> lives;
  for (const auto& [key, life] : tables.lives) lives.push_back(life);
  recovered.newest_lives = newest_of_each(std::move(lives));
  return recovered;
}

}  // namespace rota::master::store
