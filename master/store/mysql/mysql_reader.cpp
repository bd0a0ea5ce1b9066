#include "master/store/mysql/mysql_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/utf8.h"
#include "common/model/request_key.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/calendar_rows.h"
#include "master/store/mysql/quota_rows.h"
#include "master/store/mysql/hold_rows.h"
#include "master/store/mysql/semaphore_rows.h"
#include "master/store/mysql/setting_rows.h"
#include "master/store/mysql/job_rows.h"
#include "master/store/mysql/multi_row.h"
#include "master/store/mysql/node_rows.h"
#include "master/store/mysql/rows_of.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

Result<JobRow> read_job_row(Row& row) {
  auto job = read_job(row);
  if (!job) return fail(job.error());
  auto version = read_version(row);
  if (!version) return fail(version.error());
  return JobRow{std::move(*job), std::move(*version)};
}

Result<core::WorkerLife> read_life_row(Row& row) { return read_life(row); }

/// A name with LIKE's special characters escaped, and '%' at the end.
std::string like_prefix(const std::string& prefix) {
  std::string out;
  for (const char c : prefix) {
    if (c == '%' || c == '_' || c == '!') out += '!';
    out += c;
  }
  return out + "%";
}

}  // namespace

MysqlReader::MysqlReader(MysqlOptions options, PoolOptions pool)
    : pool_(std::move(options), pool) {}

Result<std::vector<model::AttemptRow>> MysqlReader::attempts_of(RunId id) {
  return rows_of<model::AttemptRow>(
      pool_, fmt::format("SELECT {} FROM attempt WHERE run_id = ? ORDER BY attempt", kAttemptColumns),
      [&](Binder& binder) { binder.integer(id.value); }, read_attempt);
}

Result<std::optional<model::RunNote>> MysqlReader::note_of(RunId id) {
  auto rows = rows_of<model::RunNote>(
      pool_, fmt::format("SELECT {} FROM run_note WHERE run_id = ?", kNoteColumns),
      [&](Binder& binder) { binder.integer(id.value); }, read_note);
  if (!rows) return fail(rows.error());
  if (rows->empty()) return std::optional<model::RunNote>();
  return std::optional(std::move(rows->front()));
}

Result<std::map<RunId, std::string>> MysqlReader::checkpoints_of(const std::vector<RunId>& ids) {
  std::map<RunId, std::string> saved;
  auto done = pool_.with([&](Connection& connection) -> Result<void> {
    saved.clear();
    for (std::size_t first = 0; first < ids.size();) {
      const std::size_t size = next_chunk(first, ids.size() - first, {});
      auto asked = connection.query(
          "SELECT run_id, checkpoint FROM run_note WHERE checkpoint IS NOT NULL AND run_id IN (" +
              marks(size) + ")",
          [&](Binder& binder) {
            for (std::size_t i = 0; i < size; ++i) binder.integer(ids[first + i].value);
          },
          [&](Row& row) -> Result<void> {
            const RunId run{row.integer()};
            saved[run] = row.text();
            return {};
          });
      if (!asked) return asked;
      first += size;
    }
    return {};
  });
  if (!done) return fail(done.error());
  return saved;
}

Result<std::optional<RunId>> MysqlReader::run_of_key(const std::string& principal,
                                                     const std::string& key,
                                                     std::string* request_hash) {
  std::optional<RunId> found;
  auto done = pool_.with([&](Connection& connection) {
    return connection.query(
        "SELECT run_id, request_hash FROM run WHERE principal = ? AND request_key = ?",
        [&](Binder& binder) { binder.text(principal).text(key); },
        [&](Row& row) -> Result<void> {
          found = RunId{row.integer()};
          if (request_hash != nullptr) *request_hash = row.text();
          return {};
        });
  });
  if (!done) return fail(done.error());
  return found;
}

/// The index on keys is read backwards: one row.
Result<std::string> MysqlReader::greatest_own_key(const std::string& principal) {
  std::string greatest;
  auto done = pool_.with([&](Connection& connection) {
    return connection.query(
        "SELECT request_key FROM run WHERE principal = ? AND request_key >= ? AND request_key < ? "
        "ORDER BY request_key DESC LIMIT 1",
        [&](Binder& binder) {
          binder.text(principal).text(std::string(model::kOwnKeyPrefix)).text(std::string(model::kOwnKeyEnd));
        },
        [&](Row& row) -> Result<void> {
          greatest = row.text();
          return {};
        });
  });
  if (!done) return fail(done.error());
  return greatest;
}

Result<std::map<std::string, KeyedRun>> MysqlReader::runs_of_keys(
    const std::string& principal, const std::vector<std::string>& keys) {
  std::map<std::string, KeyedRun> found;
  auto done = pool_.with([&](Connection& connection) -> Result<void> {
    for (std::size_t first = 0; first < keys.size();) {
      const std::size_t size = next_chunk(first, keys.size() - first, {});
      auto asked = connection.query(
          "SELECT request_key, run_id, request_hash FROM run WHERE principal = ? AND request_key IN (" +
              marks(size) + ")",
          [&](Binder& binder) {
            binder.text(principal);
            for (std::size_t i = 0; i < size; ++i) binder.text(keys[first + i]);
          },
          [&](Row& row) -> Result<void> {
            std::string key = row.text();
            const RunId run{row.integer()};
            found[std::move(key)] = KeyedRun{run, row.text()};
            return {};
          });
      if (!asked) return asked;
      first += size;
    }
    return {};
  });
  if (!done) return fail(done.error());
  return found;
}

Result<std::vector<JobRow>> MysqlReader::list_jobs(const std::string& space, const std::string& prefix,
                                                   std::int32_t limit, const std::string& after) {
  return rows_of<JobRow>(
      pool_,
      fmt::format("SELECT {}, {} FROM job j JOIN job_version v ON v.job_id = j.job_id "
                  "AND v.version = j.version {} WHERE j.namespace = ? AND j.saved_name LIKE ? ESCAPE '!' "
                  "AND j.saved_name > ? ORDER BY j.saved_name LIMIT {}",
                  kJobColumns, kVersionColumns, kJoinContent, rows_asked(limit)),
      [&](Binder& binder) { binder.text(space).text(like_prefix(prefix)).text(after); }, read_job_row);
}

Result<JobRow> MysqlReader::get_job(const std::string& space, const std::string& name) {
  auto rows = rows_of<JobRow>(
      pool_,
      fmt::format("SELECT {}, {} FROM job j JOIN job_version v ON v.job_id = j.job_id "
                  "AND v.version = j.version {} WHERE j.namespace = ? AND j.saved_name = ?",
                  kJobColumns, kVersionColumns, kJoinContent),
      [&](Binder& binder) { binder.text(space).text(name); }, read_job_row);
  if (!rows) return fail(rows.error());
  // Equality of the server ignores blanks at the end; ours does not.
  if (rows->empty() || rows->front().job.name != name) {
    return fail(ErrorCode::NotFound, fmt::format("no job '{}' in namespace '{}'", shown_text(name),
                                                shown_text(space)));
  }
  return std::move(rows->front());
}

Result<JobRow> MysqlReader::last_deleted(const std::string& space, const std::string& name) {
  auto rows = rows_of<JobRow>(
      pool_,
      fmt::format("SELECT {}, {} FROM job j JOIN job_version v ON v.job_id = j.job_id "
                  "AND v.version = j.version {} WHERE j.namespace = ? AND j.name = ? AND j.one_off = 0 "
                  "AND j.state = 'deleted' ORDER BY j.changed_ms DESC, j.job_id DESC LIMIT 1",
                  kJobColumns, kVersionColumns, kJoinContent),
      [&](Binder& binder) { binder.text(space).text(name); }, read_job_row);
  if (!rows) return fail(rows.error());
  if (rows->empty() || rows->front().job.name != name) return fail(no_deleted(space, name));
  return std::move(rows->front());
}

Result<std::shared_ptr<const model::JobDefinition>> MysqlReader::definition_of(JobId job,
                                                                               JobVersion version) {
  auto rows = rows_of<model::JobVersionRow>(
      pool_,
      fmt::format("SELECT {} FROM {} WHERE v.job_id = ? AND v.version = ?", kVersionColumns, kVersionsOfJobs),
      [&](Binder& binder) { binder.integer(job.value).integer(version); }, read_version);
  if (!rows) return fail(rows.error());
  if (rows->empty()) {
    return fail(ErrorCode::NotFound, fmt::format("no version {} of job {}", version, job.value));
  }
  return rows->front().definition;
}

Result<std::vector<model::CalendarRow>> MysqlReader::list_calendars(const std::string& space,
                                                                    const std::string& prefix,
                                                                    std::int32_t limit) {
  return rows_of<model::CalendarRow>(
      pool_,
      fmt::format("SELECT {} FROM calendar c JOIN (SELECT name, MAX(version) AS newest FROM calendar "
                  "WHERE namespace = ? GROUP BY name) n ON n.name = c.name AND n.newest = c.version "
                  "WHERE c.namespace = ? AND c.deleted = 0 AND c.name LIKE ? ESCAPE '!' "
                  "ORDER BY c.name LIMIT {}",
                  kCalendarColumns, rows_asked(limit)),
      [&](Binder& binder) { binder.text(space).text(space).text(like_prefix(prefix)); }, read_calendar);
}

Result<std::vector<model::CalendarRow>> MysqlReader::calendar_versions(const std::string& space,
                                                                       const std::string& name) {
  return rows_of<model::CalendarRow>(
      pool_,
      fmt::format("SELECT {} FROM calendar c WHERE c.namespace = ? AND c.name = ? ORDER BY c.version",
                  kCalendarColumns),
      [&](Binder& binder) { binder.text(space).text(name); }, read_calendar);
}

Result<std::vector<model::QuotaRow>> MysqlReader::list_quotas(model::QuotaOf of, std::int32_t limit) {
  return rows_of<model::QuotaRow>(
      pool_,
      fmt::format("SELECT {} {} WHERE q.side = ? ORDER BY q.name LIMIT {}", kQuotaColumns, kNewestQuotas,
                  rows_asked(limit)),
      [&](Binder& binder) { binder.text(name_of(of)); }, read_quota);
}

Result<std::vector<model::QuotaRow>> MysqlReader::quota_versions(model::QuotaOf of, const std::string& name) {
  return rows_of<model::QuotaRow>(
      pool_,
      fmt::format("SELECT {} FROM quota q WHERE q.side = ? AND q.name = ? ORDER BY q.version", kQuotaColumns),
      [&](Binder& binder) { binder.text(name_of(of)).text(name); }, read_quota);
}

Result<std::vector<model::SettingRow>> MysqlReader::newest_settings() {
  return rows_of<model::SettingRow>(pool_, fmt::format("SELECT {} {}", kSettingColumns, kNewestSettings), {},
                                    read_setting);
}

Result<std::vector<model::SettingRow>> MysqlReader::setting_versions(const std::string& name) {
  return rows_of<model::SettingRow>(
      pool_,
      fmt::format("SELECT {} FROM setting_version s WHERE s.name = ? OR ? = '' ORDER BY s.name, s.version",
                  kSettingColumns),
      [&](Binder& binder) { binder.text(name).text(name); }, read_setting);
}

Result<std::vector<model::SemaphoreRow>> MysqlReader::list_semaphores(const std::string& space,
                                                                      const std::string& prefix,
                                                                      std::int32_t limit) {
  return rows_of<model::SemaphoreRow>(
      pool_,
      fmt::format("SELECT {} {} WHERE s.namespace = ? AND s.deleted = 0 AND s.name LIKE ? ESCAPE '!' "
                  "ORDER BY s.name LIMIT {}",
                  kSemaphoreColumns, kNewestSemaphores, rows_asked(limit)),
      [&](Binder& binder) { binder.text(space).text(like_prefix(prefix)); }, read_semaphore);
}

Result<std::vector<model::SemaphoreRow>> MysqlReader::semaphore_versions(const std::string& space,
                                                                         const std::string& name) {
  return rows_of<model::SemaphoreRow>(
      pool_,
      fmt::format("SELECT {} FROM semaphore s WHERE s.namespace = ? AND s.name = ? ORDER BY s.version",
                  kSemaphoreColumns),
      [&](Binder& binder) { binder.text(space).text(name); }, read_semaphore);
}

Result<std::vector<model::WorkerDeath>> MysqlReader::deaths_of(const std::string& worker_id) {
  return rows_of<model::WorkerDeath>(
      pool_,
      fmt::format("SELECT {} FROM worker_death d WHERE ? IN ('', d.worker_id) "
                  "ORDER BY d.worker_id, d.incarnation", kDeathColumns),
      [&](Binder& binder) { binder.text(worker_id); },
      [](Row& row) -> Result<model::WorkerDeath> { return read_death(row); });
}

Result<std::vector<model::WorkerHold>> MysqlReader::holds_of(const std::string& worker_id,
                                                             std::int32_t limit) {
  return rows_of<model::WorkerHold>(
      pool_,
      fmt::format("SELECT {} FROM worker_hold h WHERE ? IN ('', h.worker_id) ORDER BY h.hold_number DESC "
                  "LIMIT {}", kHoldColumns, rows_asked(limit)),
      [&](Binder& binder) { binder.text(worker_id); }, read_hold);
}

Result<std::vector<model::Freeze>> MysqlReader::freezes() {
  return rows_of<model::Freeze>(
      pool_, fmt::format("SELECT {} FROM freeze ORDER BY freeze_id DESC LIMIT 1000", kFreezeColumns), {},
      [](Row& row) -> Result<model::Freeze> { return read_freeze(row); });
}

Result<std::vector<model::WorkerStart>> MysqlReader::starts_after(std::int64_t number, std::int32_t limit) {
  return rows_of<model::WorkerStart>(
      pool_,
      fmt::format("SELECT {} FROM worker_start s WHERE s.start_number > ? ORDER BY s.start_number LIMIT {}",
                  kStartColumns, rows_asked(limit)),
      [&](Binder& binder) { binder.integer(number); },
      [](Row& row) -> Result<model::WorkerStart> { return read_start(row); });
}

Result<std::vector<core::WorkerLife>> MysqlReader::lives_of(const std::string& worker_id,
                                                            std::int32_t limit) {
  return rows_of<core::WorkerLife>(
      pool_,
      fmt::format("SELECT {} FROM worker_life WHERE worker_id = ? "
                  "ORDER BY joined_ms DESC, incarnation LIMIT {}",
                  kLifeColumns, rows_asked(limit)),
      [&](Binder& binder) { binder.text(worker_id); }, read_life_row);
}

Result<std::vector<model::WorkerMinute>> MysqlReader::worker_minutes(const std::string& worker,
                                                                     WallTime since) {
  return rows_of<model::WorkerMinute>(
      pool_,
      fmt::format("SELECT {} FROM worker_minute WHERE worker_id = ? AND minute_ms >= ? "
                  "ORDER BY minute_ms, epoch LIMIT {}",
                  kWorkerMinuteColumns, kMostRowsAsked),
      [&](Binder& binder) { binder.text(worker).time(since); },
      [](Row& row) -> Result<model::WorkerMinute> { return read_worker_minute(row); });
}

Result<std::vector<model::PoolMinute>> MysqlReader::pool_minutes(WallTime since) {
  return rows_of<model::PoolMinute>(
      pool_,
      fmt::format("SELECT {} FROM pool_minute WHERE minute_ms >= ? ORDER BY pool, minute_ms, epoch",
                  kPoolMinuteColumns),
      [&](Binder& binder) { binder.time(since); },
      [](Row& row) -> Result<model::PoolMinute> { return read_pool_minute(row); });
}

Result<std::vector<RunId>> MysqlReader::runs_among(const std::vector<RunId>& runs) {
  if (runs.empty()) return runs;
  return rows_of<RunId>(
      pool_, "SELECT run_id FROM run WHERE run_id IN (" + run_numbers(runs) + ")", {},
      [](Row& row) -> Result<RunId> { return RunId{row.integer()}; });
}

Result<RunId> MysqlReader::runs_gone_through() {
  const auto found = rows_of<RunId>(
      pool_,
      "SELECT CAST(value AS SIGNED) FROM setting WHERE namespace = '' AND name = 'runs_gone_through'", {},
      [](Row& row) -> Result<RunId> { return RunId{row.integer()}; });
  if (!found) return fail(found.error());
  return found->empty() ? RunId{} : found->front();
}

Result<std::vector<PastRewind>> MysqlReader::rewinds() {
  return rows_of<PastRewind>(
      pool_, "SELECT epoch, from_ms, to_ms FROM tick_rewind ORDER BY epoch", {}, [](Row& row) {
        const Epoch epoch{row.integer()};
        const WallTime from = row.time();
        return Result<PastRewind>(PastRewind{epoch, from, row.time()});
      });
}

Result<std::optional<core::Watermark>> MysqlReader::watermark() {
  std::optional<core::Watermark> watermark;
  auto done = pool_.with([&](Connection& connection) {
    return connection.query(
        fmt::format("SELECT {} FROM watermark w WHERE w.partition_no = 1", kWatermarkColumns), {},
        [&](Row& row) -> Result<void> {
          watermark = read_watermark(row);
          return {};
        });
  });
  if (!done) return fail(done.error());
  return watermark;
}

Result<std::optional<WallTime>> MysqlReader::edits_told_from() {
  std::optional<WallTime> from;
  auto done = pool_.with([&](Connection& connection) {
    return connection.query(
        "SELECT edits_told_from_ms FROM epoch "
        "WHERE partition_no = 1 AND edits_told_by = value AND edits_told_from_ms IS NOT NULL",
        {},
        [&](Row& row) -> Result<void> {
          from = wall_from_ms(row.integer());
          return {};
        });
  });
  if (!done) return fail(done.error());
  return from;
}

Result<std::vector<model::JobVersionRow>> MysqlReader::versions_of(JobId job) {
  return rows_of<model::JobVersionRow>(
      pool_,
      fmt::format("SELECT {} FROM {} WHERE v.job_id = ? ORDER BY v.version", kVersionColumns,
                  kVersionsOfJobs),
      [&](Binder& binder) { binder.integer(job.value); }, read_version);
}

Result<std::vector<model::Job>> MysqlReader::saved_jobs(JobId after, std::int32_t limit) {
  return rows_of<model::Job>(
      pool_,
      fmt::format("SELECT {} FROM job j WHERE j.one_off = 0 AND j.job_id > ? "
                  "ORDER BY j.job_id LIMIT {}",
                  kJobColumns, rows_asked(limit)),
      [&](Binder& binder) { binder.integer(after.value); }, read_job);
}

Result<std::vector<model::Run>> MysqlReader::tick_runs_of(JobId job, WallTime after, WallTime through,
                                                          std::int32_t limit) {
  return rows_of<model::Run>(
      pool_,
      fmt::format("SELECT {} FROM run r {}WHERE r.job_id = ? AND r.tick_ms > ? AND r.tick_ms <= ? "
                  "ORDER BY r.tick_ms LIMIT {}",
                  kRunColumns, kWithOpen, rows_asked(limit)),
      [&](Binder& binder) { binder.integer(job.value).time(after).time(through); }, read_run);
}

Result<std::vector<model::Gap>> MysqlReader::gaps_of(JobId job) {
  return rows_of<model::Gap>(
      pool_,
      fmt::format("SELECT {} FROM gap WHERE job_id = ? ORDER BY from_ms, job_version", kGapColumns),
      [&](Binder& binder) { binder.integer(job.value); }, read_gap);
}

Result<std::vector<model::Gap>> MysqlReader::newest_gaps_of(JobId job, std::int32_t limit) {
  return rows_of<model::Gap>(
      pool_,
      fmt::format("SELECT {} FROM gap WHERE job_id = ? ORDER BY from_ms DESC, job_version DESC LIMIT {}",
                  kGapColumns, rows_asked(limit)),
      [&](Binder& binder) { binder.integer(job.value); }, read_gap);
}

Result<std::vector<model::Run>> MysqlReader::runs_after(RunId after, std::int32_t limit) {
  return rows_of<model::Run>(
      pool_,
      fmt::format("SELECT {} FROM run r {}WHERE r.run_id > ? ORDER BY r.run_id LIMIT {}", kRunColumns,
                  kWithOpen, rows_asked(limit)),
      [&](Binder& binder) { binder.integer(after.value); }, read_run);
}

Result<std::vector<model::AttemptRow>> MysqlReader::attempts_after(RunId run, AttemptNo attempt,
                                                                   std::int32_t limit) {
  return rows_of<model::AttemptRow>(
      pool_,
      fmt::format("SELECT {} FROM attempt WHERE run_id > ? OR (run_id = ? AND attempt > ?) "
                  "ORDER BY run_id, attempt LIMIT {}",
                  kAttemptColumns, rows_asked(limit)),
      [&](Binder& binder) { binder.integer(run.value).integer(run.value).integer(attempt); },
      read_attempt);
}

Result<std::optional<WallTime>> MysqlReader::gone_through(JobId job) {
  const auto found = rows_of<WallTime>(
      pool_, "SELECT through_ms FROM history_gone WHERE job_id = ?",
      [&](Binder& binder) { binder.integer(job.value); },
      [](Row& row) -> Result<WallTime> { return row.time(); });
  if (!found) return fail(found.error());
  return found->empty() ? std::nullopt : std::optional(found->front());
}

Result<std::map<RunId, WallTime>> MysqlReader::pruned_among(const std::vector<RunId>& runs) {
  std::map<RunId, WallTime> pruned;
  if (runs.empty()) return pruned;
  auto done = pool_.with([&](Connection& connection) {
    pruned.clear();
    return connection.stream(
        "SELECT run_id, pruned_ms FROM log_pruned WHERE run_id IN (" + run_numbers(runs) + ")",
        [&](Row& row) -> Result<void> {
          const RunId run{row.integer()};
          pruned[run] = row.time();
          return {};
        });
  });
  if (!done) return fail(done.error());
  return pruned;
}

}  // namespace rota::master::store
