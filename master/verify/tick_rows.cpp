#include "master/verify/tick_rows.h"

#include <algorithm>

#include "master/verify/findings.h"

namespace rota::master::verify {
namespace {

constexpr std::int32_t kMostRows = 5000;  // of one question; jobs behind it are asked alone

/// The job from which on rows may be missing, when there were as many as were asked for.
template <typename Row>
JobId first_unsure(const std::vector<Row>& rows) {
  const bool is_all = rows.size() < static_cast<std::size_t>(kMostRows);
  return is_all ? JobId{INT64_MAX} : rows.back().job;
}

/// Hands the rows out to their jobs; those that may have more of them get none.
template <typename Row>
void hand_out(std::vector<Row> rows, std::map<JobId, TickRows>& out,
              std::optional<std::vector<Row>> TickRows::*field) {
  const JobId unsure = first_unsure(rows);
  for (auto& [job, of_job] : out) {
    if (job < unsure) (of_job.*field).emplace();
  }
  for (Row& row : rows) {
    const auto found = out.find(row.job);
    if (found != out.end() && row.job < unsure) (found->second.*field)->push_back(std::move(row));
  }
}

}  // namespace

Result<std::map<JobId, TickRows>> read_tick_rows(store::Reader& reader, const std::vector<JobId>& jobs,
                                                 WallTime after) {
  std::map<JobId, TickRows> out;
  if (jobs.empty()) return out;
  for (const JobId job : jobs) out[job];
  const auto gone = reader.gone_through_of_jobs(jobs);
  if (!gone) return fail(gone.error());
  for (const auto& [job, through] : *gone) out[job].gone_through = through;
  auto versions = reader.versions_of_jobs(jobs);
  if (!versions) return fail(versions.error());
  for (auto& version : *versions) out[version.job].versions.push_back(std::move(version));
  for (auto& [job, rows] : out) std::ranges::sort(rows.versions, {}, &model::JobVersionRow::valid_from);
  auto gaps = reader.gaps_of_jobs(jobs, kMostRows);
  if (!gaps) return fail(gaps.error());
  hand_out(std::move(*gaps), out, &TickRows::gaps);
  auto runs = reader.tick_runs_of_jobs(jobs, after, kEndOfTime, kMostRows);
  if (!runs) return fail(runs.error());
  hand_out(std::move(*runs), out, &TickRows::runs);
  return out;
}

}  // namespace rota::master::verify
