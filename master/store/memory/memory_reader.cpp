// The reading half of MemoryStore: queries and logs.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/base/utf8.h"
#include "common/model/request_key.h"
#include "master/store/logs/log_rules.h"
#include "master/store/memory/memory_store.h"
#include "master/store/memory/memory_tables.h"

namespace rota::master::store {
namespace {

std::size_t bounded(std::int32_t limit) { return static_cast<std::size_t>(std::clamp(limit, 1, 10'000)); }

bool is_below(const MemoryTables& tables, const model::Run& run, RunId of, RunId model::ChildRow::* member) {
  return std::ranges::any_of(tables.children, [&](const auto& row) {
    return row.second.run == run.id && row.second.*member == of;
  });
}

bool fits(const MemoryTables& tables, const RunQuery& query, const model::Run& run,
          const std::string& job_name) {
  if (run.space != query.space) return false;
  if (!query.job.empty() && query.job != job_name) return false;
  if (!query.job.empty() && query.one_off && *query.one_off != is_of_one_off(run)) return false;
  if (query.since && run.scheduled < *query.since) return false;
  if (query.before && run.id >= *query.before) return false;
  if (!query.worker.empty() && run.progress.worker.id != query.worker) return false;
  if (query.parent && !is_below(tables, run, *query.parent, &model::ChildRow::parent)) return false;
  if (query.root && !is_below(tables, run, *query.root, &model::ChildRow::root)) return false;
  return query.states.empty() ||
         std::find(query.states.begin(), query.states.end(), run.progress.state) != query.states.end();
}

std::string name_of_job(const auto& tables, JobId id) {
  const auto found = tables.jobs.find(id);
  return found == tables.jobs.end() ? std::string() : found->second.name;
}

}  // namespace

Result<std::vector<RunRow>> MemoryStore::list_runs(const RunQuery& query) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<RunRow> rows;
  for (auto at = tables_->runs.rbegin(); at != tables_->runs.rend(); ++at) {
    if (rows.size() >= bounded(query.limit)) break;
    std::string name = name_of_job(*tables_, at->second.job);
    if (fits(*tables_, query, at->second, name)) rows.push_back({at->second, std::move(name)});
  }
  return rows;
}

Result<std::map<JobId, RunRow>> MemoryStore::newest_runs_of(const std::vector<JobId>& jobs) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  const std::set<JobId> wanted(jobs.begin(), jobs.end());
  std::map<JobId, RunRow> newest;
  for (const auto& [id, run] : tables_->runs) {
    if (wanted.contains(run.job)) newest[run.job] = {run, name_of_job(*tables_, run.job)};
  }
  return newest;
}

Result<RunRow> MemoryStore::get_run(RunId id) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  const auto found = tables_->runs.find(id);
  if (found == tables_->runs.end()) return fail(ErrorCode::NotFound, fmt::format("no run {}", id.value));
  return RunRow{found->second, name_of_job(*tables_, found->second.job)};
}

Result<std::vector<model::AttemptRow>> MemoryStore::attempts_of(RunId id) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::AttemptRow> rows;
  for (const auto& [key, attempt] : tables_->attempts) {
    if (key.first == id) rows.push_back(attempt);
  }
  return rows;
}

Result<std::optional<model::RunNote>> MemoryStore::note_of(RunId id) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  const auto found = tables_->notes.find(id);
  return found == tables_->notes.end() ? std::nullopt : std::optional(found->second);
}

Result<std::map<RunId, std::string>> MemoryStore::checkpoints_of(const std::vector<RunId>& ids) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::map<RunId, std::string> saved;
  for (const RunId id : ids) {
    const auto found = tables_->notes.find(id);
    if (found != tables_->notes.end() && found->second.checkpoint) saved[id] = *found->second.checkpoint;
  }
  return saved;
}

Result<std::optional<RunId>> MemoryStore::run_of_key(const std::string& principal,
                                                     const std::string& key,
                                                     std::string* request_hash) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  const auto found = tables_->run_of_key.find({principal, key});
  if (found == tables_->run_of_key.end()) return std::optional<RunId>();
  if (request_hash != nullptr) *request_hash = tables_->runs.at(found->second).request_hash;
  return std::optional(found->second);
}

Result<std::string> MemoryStore::greatest_own_key(const std::string& principal) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  const auto& keys = tables_->run_of_key;
  const auto end = keys.lower_bound({principal, std::string(model::kOwnKeyEnd)});
  if (end == keys.begin()) return std::string();
  const auto& [of, key] = std::prev(end)->first;
  return of == principal && key >= model::kOwnKeyPrefix ? key : std::string();
}

Result<std::vector<JobRow>> MemoryStore::list_jobs(const std::string& space, const std::string& prefix,
                                                   std::int32_t limit, const std::string& after) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<JobRow> rows;
  auto at = after < prefix ? tables_->job_of_name.lower_bound({space, prefix})
                           : tables_->job_of_name.upper_bound({space, after});
  for (; at != tables_->job_of_name.end(); ++at) {
    if (at->first.first != space || !at->first.second.starts_with(prefix)) break;
    if (rows.size() >= bounded(limit)) break;
    const auto& job = tables_->jobs.at(at->second);
    const auto version = tables_->versions.find({job.id, job.version});
    if (version != tables_->versions.end()) rows.push_back({job, version->second});
  }
  return rows;
}

Result<JobRow> MemoryStore::get_job(const std::string& space, const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  const auto found = tables_->job_of_name.find({space, name});
  if (found != tables_->job_of_name.end()) {
    const auto& job = tables_->jobs.at(found->second);
    const auto version = tables_->versions.find({job.id, job.version});
    if (version != tables_->versions.end()) return JobRow{job, version->second};
  }
  return fail(ErrorCode::NotFound, fmt::format("no job '{}' in namespace '{}'", shown_text(name),
                                              shown_text(space)));
}

Result<JobRow> MemoryStore::last_deleted(const std::string& space, const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  const model::Job* last = nullptr;
  for (const auto& [id, job] : tables_->jobs) {
    const bool is_one = job.space == space && job.name == name && !job.one_off &&
                        job.state == model::JobState::Deleted;
    if (is_one && (last == nullptr || job.changed >= last->changed)) last = &job;
  }
  if (last == nullptr) return fail(no_deleted(space, name));
  return JobRow{*last, tables_->versions.at({last->id, last->version})};
}

Result<std::shared_ptr<const model::JobDefinition>> MemoryStore::definition_of(JobId job,
                                                                               JobVersion version) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  const auto found = tables_->versions.find({job, version});
  if (found != tables_->versions.end()) return found->second.definition;
  return fail(ErrorCode::NotFound, fmt::format("no version {} of job {}", version, job.value));
}

Result<std::vector<model::CalendarRow>> MemoryStore::list_calendars(const std::string& space,
                                                                    const std::string& prefix,
                                                                    std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::CalendarRow> rows;
  for (auto at = tables_->calendars.lower_bound({space, prefix, 0}); at != tables_->calendars.end(); ++at) {
    const auto& [own_space, name, version] = at->first;
    if (own_space != space || !name.starts_with(prefix)) break;
    const auto next = std::next(at);
    const bool is_newest = next == tables_->calendars.end() || std::get<0>(next->first) != space ||
                           std::get<1>(next->first) != name;
    if (is_newest && !at->second.deleted && rows.size() < bounded(limit)) rows.push_back(at->second);
  }
  return rows;
}

Result<std::vector<model::CalendarRow>> MemoryStore::calendar_versions(const std::string& space,
                                                                       const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::CalendarRow> rows;
  for (auto at = tables_->calendars.lower_bound({space, name, 0}); at != tables_->calendars.end(); ++at) {
    if (std::get<0>(at->first) != space || std::get<1>(at->first) != name) break;
    rows.push_back(at->second);
  }
  return rows;
}

Result<std::vector<model::SettingRow>> MemoryStore::newest_settings() {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  return newest_settings_in(*tables_);
}

Result<std::vector<model::SettingRow>> MemoryStore::setting_versions(const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::SettingRow> rows;
  for (const auto& [key, row] : tables_->settings) {
    if (name.empty() || row.name == name) rows.push_back(row);
  }
  return rows;
}

Result<std::vector<model::QuotaRow>> MemoryStore::list_quotas(model::QuotaOf of, std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::QuotaRow> rows;
  for (const model::QuotaRow& row : newest_quotas_in(*tables_)) {
    if (row.of == of && rows.size() < bounded(limit)) rows.push_back(row);
  }
  return rows;
}

Result<std::vector<model::QuotaRow>> MemoryStore::quota_versions(model::QuotaOf of, const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::QuotaRow> rows;
  for (const auto& [key, row] : tables_->quotas) {
    if (row.of == of && row.name == name) rows.push_back(row);
  }
  return rows;
}

Result<std::vector<model::SemaphoreRow>> MemoryStore::list_semaphores(const std::string& space,
                                                                      const std::string& prefix,
                                                                      std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::map<std::string, model::SemaphoreRow> newest;
  for (const auto& [key, row] : tables_->semaphores) {
    if (row.space == space && row.name.starts_with(prefix)) newest[row.name] = row;
  }
  std::vector<model::SemaphoreRow> rows;
  for (const auto& [name, row] : newest) {
    if (!row.deleted && rows.size() < bounded(limit)) rows.push_back(row);
  }
  return rows;
}

Result<std::vector<model::SemaphoreRow>> MemoryStore::semaphore_versions(const std::string& space,
                                                                         const std::string& name) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::SemaphoreRow> rows;
  for (const auto& [key, row] : tables_->semaphores) {
    if (row.space == space && row.name == name) rows.push_back(row);
  }
  return rows;
}

Result<std::vector<model::WorkerDeath>> MemoryStore::deaths_of(const std::string& worker_id) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::WorkerDeath> out;
  for (const auto& [life, death] : tables_->deaths) {
    if (worker_id.empty() || life.id == worker_id) out.push_back(death);
  }
  return out;
}

Result<std::vector<model::WorkerHold>> MemoryStore::holds_of(const std::string& worker_id,
                                                             std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::WorkerHold> out;
  for (auto at = tables_->holds.rbegin(); at != tables_->holds.rend(); ++at) {
    if (out.size() >= static_cast<std::size_t>(std::max(limit, 1))) break;
    if (worker_id.empty() || at->second.worker == worker_id) out.push_back(at->second);
  }
  return out;
}

Result<std::vector<model::Freeze>> MemoryStore::freezes() {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::Freeze> out;
  for (auto at = tables_->freezes.rbegin(); at != tables_->freezes.rend() && out.size() < 1000; ++at) {
    out.push_back(at->second);
  }
  return out;
}

Result<std::vector<model::WorkerStart>> MemoryStore::starts_after(std::int64_t number, std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::WorkerStart> out;
  for (const auto& [key, start] : tables_->starts) {
    if (start.number > number) out.push_back(start);
  }
  std::ranges::sort(out, {}, &model::WorkerStart::number);
  if (out.size() > static_cast<std::size_t>(limit)) out.resize(static_cast<std::size_t>(limit));
  return out;
}

Result<std::vector<core::WorkerLife>> MemoryStore::lives_of(const std::string& worker_id,
                                                            std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<core::WorkerLife> lives;
  for (const auto& [key, life] : tables_->lives) {
    if (key.id == worker_id) lives.push_back(life);
  }
  std::stable_sort(lives.begin(), lives.end(),
                   [](const auto& a, const auto& b) { return a.joined > b.joined; });
  if (lives.size() > bounded(limit)) lives.resize(bounded(limit));
  return lives;
}

Result<std::vector<RunId>> MemoryStore::runs_among(const std::vector<RunId>& runs) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<RunId> stored = runs;
  std::erase_if(stored, [&](RunId run) { return !tables_->runs.contains(run); });
  return stored;
}

Result<RunId> MemoryStore::runs_gone_through() {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  return tables_->runs_gone_through;
}

Result<std::vector<PastRewind>> MemoryStore::rewinds() {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  return tables_->rewinds;
}

Result<std::optional<core::Watermark>> MemoryStore::watermark() {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  return tables_->watermark;
}

Result<std::vector<model::JobVersionRow>> MemoryStore::versions_of(JobId job) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::JobVersionRow> rows;
  for (const auto& [key, version] : tables_->versions) {
    if (key.first == job) rows.push_back(version);
  }
  return rows;
}

Result<std::vector<model::Job>> MemoryStore::saved_jobs(JobId after, std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::Job> jobs;
  for (auto at = tables_->jobs.upper_bound(after); at != tables_->jobs.end(); ++at) {
    if (jobs.size() >= bounded(limit)) break;
    if (!at->second.one_off) jobs.push_back(at->second);
  }
  return jobs;
}

Result<std::vector<model::Run>> MemoryStore::tick_runs_of(JobId job, WallTime after, WallTime through,
                                                          std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::Run> runs;
  for (auto at = tables_->run_of_tick.upper_bound({job, after}); at != tables_->run_of_tick.end(); ++at) {
    if (at->first.first != job || at->first.second > through || runs.size() >= bounded(limit)) break;
    runs.push_back(tables_->runs.at(at->second));
  }
  return runs;
}

Result<std::vector<model::Gap>> MemoryStore::gaps_of(JobId job) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::Gap> gaps;
  for (const auto& [key, gap] : tables_->gaps) {
    if (gap.job == job) gaps.push_back(gap);
  }
  std::stable_sort(gaps.begin(), gaps.end(),
                   [](const auto& a, const auto& b) { return a.from < b.from; });
  return gaps;
}

Result<std::vector<model::Gap>> MemoryStore::newest_gaps_of(JobId job, std::int32_t limit) {
  auto gaps = gaps_of(job);
  if (!gaps) return gaps;
  std::reverse(gaps->begin(), gaps->end());
  if (gaps->size() > static_cast<std::size_t>(limit)) gaps->resize(static_cast<std::size_t>(limit));
  return gaps;
}

Result<std::vector<TermRow>> MemoryStore::terms_through(Epoch epoch, std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<TermRow> terms;
  for (auto at = tables_->terms.upper_bound(epoch); at != tables_->terms.begin();) {
    if (terms.size() >= bounded(limit)) break;
    --at;
    terms.push_back({at->first, at->second.first.name, at->second.first.address, at->second.second});
  }
  return terms;
}

Result<std::vector<model::Run>> MemoryStore::runs_after(RunId after, std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::Run> runs;
  for (auto at = tables_->runs.upper_bound(after); at != tables_->runs.end(); ++at) {
    if (runs.size() >= bounded(limit)) break;
    runs.push_back(at->second);
  }
  return runs;
}

Result<std::vector<model::AttemptRow>> MemoryStore::attempts_after(RunId run, AttemptNo attempt,
                                                                   std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::AttemptRow> rows;
  for (auto at = tables_->attempts.upper_bound({run, attempt}); at != tables_->attempts.end(); ++at) {
    if (rows.size() >= bounded(limit)) break;
    rows.push_back(at->second);
  }
  return rows;
}

Result<std::optional<WallTime>> MemoryStore::gone_through(JobId job) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  const auto found = tables_->gone.find(job);
  return found == tables_->gone.end() ? std::nullopt : std::optional(found->second);
}

Result<std::map<RunId, WallTime>> MemoryStore::pruned_among(const std::vector<RunId>& runs) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::map<RunId, WallTime> pruned;
  for (const RunId run : runs) {
    const auto found = tables_->pruned.find(run);
    if (found != tables_->pruned.end()) pruned.insert(*found);
  }
  return pruned;
}

}  // namespace rota::master::store
