// What verify asks of many jobs at once.
#include <fmt/format.h>

#include "master/store/mysql/connection.h"
#include "master/store/mysql/job_rows.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/late_told_rows.h"
#include "master/store/mysql/notification_rows.h"
#include "master/store/mysql/rows_of.h"
#include "master/store/mysql/scale_rows.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

std::string job_numbers(const std::vector<JobId>& jobs) {
  std::string text;
  for (const JobId job : jobs) text += (text.empty() ? "" : ",") + std::to_string(job.value);
  return text.empty() ? "0" : text;
}

}  // namespace

Result<std::vector<model::JobVersionRow>> MysqlReader::versions_of_jobs(const std::vector<JobId>& jobs) {
  return rows_of<model::JobVersionRow>(
      pool_,
      fmt::format("SELECT {} FROM {} WHERE v.job_id IN ({}) ORDER BY v.job_id, v.version", kVersionColumns,
                  kVersionsOfJobs, job_numbers(jobs)),
      {}, read_version);
}

Result<std::vector<model::Run>> MysqlReader::tick_runs_of_jobs(const std::vector<JobId>& jobs,
                                                               WallTime after, WallTime through,
                                                               std::int32_t limit) {
  return rows_of<model::Run>(
      pool_,
      fmt::format("SELECT {} FROM run r FORCE INDEX (run_tick_once) {}WHERE r.job_id IN ({}) "
                  "AND r.tick_ms > ? AND r.tick_ms <= ? ORDER BY r.job_id, r.tick_ms LIMIT {}",
                  kRunColumns, kWithOpen, job_numbers(jobs), rows_asked(limit)),
      [&](Binder& binder) { binder.time(after).time(through); }, read_run);
}

Result<std::vector<model::Gap>> MysqlReader::gaps_of_jobs(const std::vector<JobId>& jobs,
                                                          std::int32_t limit) {
  return rows_of<model::Gap>(
      pool_,
      fmt::format("SELECT {} FROM gap WHERE job_id IN ({}) ORDER BY job_id, job_version, from_ms LIMIT {}",
                  kGapColumns, job_numbers(jobs), rows_asked(limit)),
      {}, read_gap);
}

Result<std::map<JobId, WallTime>> MysqlReader::gone_through_of_jobs(const std::vector<JobId>& jobs) {
  using Gone = std::pair<JobId, WallTime>;
  const auto rows = rows_of<Gone>(
      pool_, "SELECT job_id, through_ms FROM history_gone WHERE job_id IN (" + job_numbers(jobs) + ")", {},
      [](Row& row) -> Result<Gone> {
        const JobId job{row.integer()};
        return Gone{job, row.time()};
      });
  if (!rows) return fail(rows.error());
  return std::map<JobId, WallTime>(rows->begin(), rows->end());
}

/// In one statement, which sees the run and the list (kept_runs.h) at one moment. While a master of an older
/// version leads, nobody reads the list.
Result<std::vector<RunId>> MysqlReader::unlisted_among(const std::vector<RunId>& runs) {
  if (runs.empty()) return runs;
  return rows_of<RunId>(
      pool_,
      fmt::format("SELECT r.run_id FROM epoch e JOIN run_open kept ON kept.run_id = 0 JOIN run r "
                  "LEFT JOIN run_open o ON o.run_id = r.run_id WHERE e.partition_no = 1 "
                  "AND e.open_kept_for = e.value AND r.run_id IN ({}) AND r.state IN ({}) "
                  "AND o.run_id IS NULL ORDER BY r.run_id",
                  run_numbers(runs), kUnfinishedStates),
      {}, [](Row& row) -> Result<RunId> { return RunId{row.integer()}; });
}

Result<std::int64_t> MysqlReader::count_saved_jobs() {
  const auto rows = rows_of<std::int64_t>(
      pool_, "SELECT COUNT(*) FROM job WHERE one_off = 0", {},
      [](Row& row) -> Result<std::int64_t> { return row.integer(); });
  if (!rows) return fail(rows.error());
  return rows->empty() ? 0 : rows->front();
}

Result<std::vector<model::Run>> MysqlReader::runs_of_job_after(JobId job, RunId after, std::int32_t limit) {
  return rows_of<model::Run>(
      pool_,
      fmt::format("SELECT {} FROM run r {}WHERE r.job_id = ? AND r.run_id > ? ORDER BY r.run_id LIMIT {}",
                  kRunColumns, kWithOpen, rows_asked(limit)),
      [&](Binder& binder) { binder.integer(job.value).integer(after.value); }, read_run);
}

Result<std::vector<model::Run>> MysqlReader::runs_of_job_up_to(JobId job, RunId last, std::int32_t limit) {
  return rows_of<model::Run>(
      pool_,
      fmt::format("SELECT {} FROM run r {}WHERE r.job_id = ? AND r.run_id <= ? "
                  "ORDER BY r.run_id DESC LIMIT {}",
                  kRunColumns, kWithOpen, rows_asked(limit)),
      [&](Binder& binder) { binder.integer(job.value).integer(last.value); }, read_run);
}

Result<std::vector<model::ScaleChange>> MysqlReader::list_scaling(const std::string& pool,
                                                                  std::int64_t before, std::int32_t limit) {
  std::string where = pool.empty() ? "1 = 1" : "c.pool = ?";
  if (before != 0) where += fmt::format(" AND c.id < {}", before);
  return rows_of<model::ScaleChange>(
      pool_,
      fmt::format("SELECT {} FROM scale_change c WHERE {} ORDER BY c.id DESC LIMIT {}", kScaleColumns, where,
                  rows_asked(limit)),
      [&](Binder& binder) {
        if (!pool.empty()) binder.text(pool);
      },
      read_scale_change);
}

Result<std::vector<model::Notification>> MysqlReader::list_notifications(bool open, std::int32_t limit) {
  return rows_of<model::Notification>(
      pool_,
      fmt::format("SELECT {} FROM notification n {} ORDER BY n.id DESC LIMIT {}", kNotificationColumns,
                  open ? "WHERE n.state = 'open'" : "", rows_asked(limit)),
      {}, read_notification);
}

Result<std::vector<model::Notification>> MysqlReader::notifications_after(std::int64_t id,
                                                                          std::int32_t limit) {
  return rows_of<model::Notification>(
      pool_,
      fmt::format("SELECT {} FROM notification n WHERE n.id > ? ORDER BY n.id LIMIT {}", kNotificationColumns,
                  rows_asked(limit)),
      [&](Binder& binder) { binder.integer(id); }, read_notification);
}

Result<std::vector<model::ReceiverRow>> MysqlReader::receivers() {
  return rows_of<model::ReceiverRow>(
      pool_, fmt::format("SELECT {} FROM receiver r ORDER BY r.epoch, r.name", kReceiverColumns), {},
      read_receiver);
}

Result<std::vector<model::LateRow>> MysqlReader::list_late(JobId job, const std::string& space,
                                                           WallTime since, std::int32_t limit) {
  std::string where = fmt::format("t.what IN ('start_within', 'finish_by', 'longer_than') "
                                  "AND t.told_ms >= {}", to_ms(since));
  if (job != JobId{}) where += fmt::format(" AND t.job_id = {}", job.value);
  if (!space.empty()) where += " AND t.namespace = ?";
  return rows_of<model::LateRow>(
      pool_,
      fmt::format("SELECT {} FROM late_told t WHERE {} ORDER BY t.told_ms DESC, t.job_id DESC, "
                  "t.run_id DESC, t.tick_ms DESC, "
                  "FIELD(t.what, 'start_within', 'finish_by', 'longer_than') DESC LIMIT {}",
                  kLateColumns, where, rows_asked(limit)),
      [&](Binder& binder) {
        if (!space.empty()) binder.text(space);
      },
      read_late);
}

Result<std::vector<model::LateRow>> MysqlReader::late_of(JobId job) {
  return rows_of<model::LateRow>(
      pool_,
      fmt::format("SELECT {} FROM late_told t WHERE t.job_id = ? ORDER BY t.run_id, t.tick_ms, "
                  "FIELD(t.what, 'start_within', 'finish_by', 'longer_than')",
                  kLateColumns),
      [&](Binder& binder) { binder.integer(job.value); }, read_late);
}

Result<std::vector<model::LateRow>> MysqlReader::late_terms() {
  return rows_of<model::LateRow>(
      pool_, fmt::format("SELECT {} FROM late_told t WHERE t.what = 'term' ORDER BY t.run_id", kLateColumns),
      {}, read_late);
}

Result<std::optional<model::JobPace>> MysqlReader::pace_of(JobId job) {
  const auto rows = rows_of<model::JobPace>(
      pool_, fmt::format("SELECT {} FROM job_pace p WHERE p.job_id = ?", kPaceColumns),
      [&](Binder& binder) { binder.integer(job.value); }, read_pace);
  if (!rows) return fail(rows.error());
  return rows->empty() ? std::optional<model::JobPace>() : std::optional(rows->front());
}

}  // namespace rota::master::store
