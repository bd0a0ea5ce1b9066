// The half of MemoryStore that verify asks of many jobs at once: each job by itself.
#include <algorithm>

#include "master/store/memory/memory_store.h"
#include "master/store/memory/memory_tables.h"

namespace rota::master::store {
namespace {

/// What `ask` says of each job, behind one another, up to the limit.
template <typename Row, typename Ask>
Result<std::vector<Row>> of_each(const std::vector<JobId>& jobs, std::size_t limit, const Ask& ask) {
  std::vector<Row> out;
  for (const JobId job : jobs) {
    const auto rows = ask(job);
    if (!rows) return fail(rows.error());
    out.insert(out.end(), rows->begin(), rows->end());
    if (out.size() < limit) continue;
    out.resize(limit);
    break;
  }
  return out;
}

std::size_t bound(std::int32_t limit) { return static_cast<std::size_t>(std::clamp(limit, 1, 10'000)); }

}  // namespace

Result<std::vector<model::JobVersionRow>> MemoryStore::versions_of_jobs(const std::vector<JobId>& jobs) {
  return of_each<model::JobVersionRow>(jobs, SIZE_MAX, [&](JobId job) { return versions_of(job); });
}

Result<std::vector<model::Run>> MemoryStore::tick_runs_of_jobs(const std::vector<JobId>& jobs,
                                                               WallTime after, WallTime through,
                                                               std::int32_t limit) {
  return of_each<model::Run>(jobs, bound(limit),
                             [&](JobId job) { return tick_runs_of(job, after, through, limit); });
}

Result<std::vector<model::Gap>> MemoryStore::gaps_of_jobs(const std::vector<JobId>& jobs,
                                                          std::int32_t limit) {
  return of_each<model::Gap>(jobs, bound(limit), [&](JobId job) { return gaps_of(job); });
}

Result<std::map<JobId, WallTime>> MemoryStore::gone_through_of_jobs(const std::vector<JobId>& jobs) {
  std::map<JobId, WallTime> out;
  for (const JobId job : jobs) {
    const auto gone = gone_through(job);
    if (!gone) return fail(gone.error());
    if (*gone) out[job] = **gone;
  }
  return out;
}

Result<std::int64_t> MemoryStore::count_saved_jobs() {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  return std::ranges::count_if(tables_->jobs, [](const auto& row) { return !row.second.one_off; });
}

Result<std::vector<model::Run>> MemoryStore::runs_of_job_after(JobId job, RunId after, std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::Run> runs;
  for (auto at = tables_->runs.upper_bound(after); at != tables_->runs.end(); ++at) {
    if (runs.size() >= bound(limit)) break;
    if (at->second.job == job) runs.push_back(at->second);
  }
  return runs;
}

Result<std::vector<model::Run>> MemoryStore::runs_of_job_up_to(JobId job, RunId last, std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::Run> runs;
  auto at = tables_->runs.upper_bound(last);
  while (at != tables_->runs.begin() && runs.size() < bound(limit)) {
    --at;
    if (at->second.job == job) runs.push_back(at->second);
  }
  return runs;
}

Result<std::vector<model::ScaleChange>> MemoryStore::list_scaling(const std::string& pool,
                                                                  std::int64_t before, std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::ScaleChange> rows;
  for (auto at = tables_->scaling.rbegin(); at != tables_->scaling.rend(); ++at) {
    const bool is_asked = (pool.empty() || at->second.pool == pool) && (before == 0 || at->first < before);
    if (is_asked && rows.size() < bound(limit)) rows.push_back(at->second);
  }
  return rows;
}

Result<std::vector<model::Notification>> MemoryStore::list_notifications(bool open, std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::Notification> rows;
  for (auto at = tables_->notifications.rbegin(); at != tables_->notifications.rend(); ++at) {
    const bool is_asked = !open || at->second.state == model::Delivery::Open;
    if (is_asked && rows.size() < bound(limit)) rows.push_back(at->second);
  }
  return rows;
}

Result<std::vector<model::Notification>> MemoryStore::notifications_after(std::int64_t id,
                                                                          std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::Notification> rows;
  for (auto at = tables_->notifications.upper_bound(id); at != tables_->notifications.end(); ++at) {
    if (rows.size() < bound(limit)) rows.push_back(at->second);
  }
  return rows;
}

Result<std::vector<model::ReceiverRow>> MemoryStore::receivers() {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::ReceiverRow> rows;
  for (const auto& [key, row] : tables_->receivers) rows.push_back(row);
  return rows;
}

Result<std::vector<model::LateRow>> MemoryStore::list_late(JobId job, const std::string& space,
                                                           WallTime since, std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::LateRow> rows;
  for (const auto& [key, row] : tables_->late) {
    const bool is_asked = row.job != JobId{} && (job == JobId{} || row.job == job) &&
                          (space.empty() || row.space == space) && row.told >= since;
    if (is_asked) rows.push_back(row);
  }
  std::ranges::sort(rows, [](const auto& a, const auto& b) {
    if (a.told != b.told) return a.told > b.told;
    return key_of(a) > key_of(b);
  });
  if (rows.size() > bound(limit)) rows.resize(bound(limit));
  return rows;
}

Result<std::vector<model::LateRow>> MemoryStore::late_of(JobId job) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::LateRow> rows;
  for (const auto& [key, row] : tables_->late) {
    if (row.job == job) rows.push_back(row);
  }
  return rows;
}

Result<std::vector<model::LateRow>> MemoryStore::late_terms() {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<model::LateRow> rows;
  for (const auto& [key, row] : tables_->late) {
    if (row.what == model::ToldOnce::Term) rows.push_back(row);
  }
  return rows;
}

Result<std::optional<model::JobPace>> MemoryStore::pace_of(JobId job) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  const auto found = tables_->paces.find(job);
  return found == tables_->paces.end() ? std::optional<model::JobPace>() : std::optional(found->second);
}

}  // namespace rota::master::store
