#include "master/store/mysql/mysql_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/utf8.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/job_rows.h"
#include "master/store/mysql/multi_row.h"
#include "master/store/mysql/rows_of.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

Result<RunRow> read_run_row(Row& row) {
  auto run = read_run(row);
  if (!run) return fail(run.error());
  return RunRow{std::move(*run), row.text()};
}

Result<JobRow> read_job_row(Row& row) {
  auto job = read_job(row);
  if (!job) return fail(job.error());
  auto version = read_version(row);
  if (!version) return fail(version.error());
  return JobRow{std::move(*job), std::move(*version)};
}

Result<JobId> read_job_id(Row& row) { return JobId{row.integer()}; }
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

std::string select_runs() { return fmt::format("SELECT {}, j.name FROM run r ", kRunColumns); }
constexpr std::string_view kWithJob = "LEFT JOIN job j ON j.job_id = r.job_id ";

/// "?,?,…"
std::string marks(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += i == 0 ? "?" : ",?";
  return text;
}

/// The conditions of a RunQuery except its job, and below the values of their question marks, in the same
/// order.
std::string conditions_of(const RunQuery& query) {
  std::string where = "WHERE r.namespace = ?";
  if (!query.states.empty()) where += fmt::format(" AND r.state IN ({})", marks(query.states.size()));
  if (query.since) where += " AND r.scheduled_ms >= ?";
  if (query.before) where += " AND r.run_id < ?";
  if (query.worker.empty()) return where;
  where += " AND r.worker_id = ?";
  if (query.since) return where;
  return where + fmt::format(" AND r.run_id >= COALESCE((SELECT n.run_id FROM run n ORDER BY n.run_id DESC "
                             "LIMIT 1 OFFSET {}), 0)",
                             kRunsLookedThrough - 1);
}

void bind_conditions(Binder& binder, const RunQuery& query) {
  binder.text(query.space);
  for (const model::RunState state : query.states) binder.text(model::name_of(state));
  if (query.since) binder.time(*query.since);
  if (query.before) binder.integer(query.before->value);
  if (!query.worker.empty()) binder.text(query.worker);
}

std::string newest_first(std::int32_t limit) {
  return fmt::format(" ORDER BY r.run_id DESC LIMIT {}", rows_asked(limit));
}

/// So many jobs of one name are asked for one by one, so many in one list.
constexpr std::size_t kFewJobs = 8;
constexpr std::size_t kMostJobsNamed = 1000;

/// A saved job has one id, and one more for each time that it was deleted and made anew; each definition
/// that was submitted once has its own. The index on the name has the ids behind it.
Result<std::vector<JobId>> jobs_of(ConnectionPool& pool, const RunQuery& query) {
  std::string where = "WHERE namespace = ? AND name = ?";
  if (query.one_off) where += *query.one_off ? " AND job_id >= ?" : " AND job_id < ?";
  return rows_of<JobId>(
      pool, fmt::format("SELECT job_id FROM job {} ORDER BY job_id DESC LIMIT {}", where, kMostJobsNamed + 1),
      [&](Binder& binder) {
        binder.text(query.space).text(query.job);
        if (query.one_off) binder.integer(kOneOffBit);
      },
      read_job_id);
}

/// By the index on (job, run).
Result<std::vector<RunRow>> runs_of_jobs(ConnectionPool& pool, const RunQuery& query,
                                         const std::vector<JobId>& jobs) {
  return rows_of<RunRow>(
      pool,
      select_runs() + std::string(kWithJob) + conditions_of(query) +
          fmt::format(" AND r.job_id IN ({})", marks(jobs.size())) + newest_first(query.limit),
      [&](Binder& binder) {
        bind_conditions(binder, query);
        for (const JobId job : jobs) binder.integer(job.value);
      },
      read_run_row);
}

/// One job after the other: then that index gives each one's newest without sorting, however many there are.
Result<std::vector<RunRow>> runs_of_few(ConnectionPool& pool, const RunQuery& query,
                                        const std::vector<JobId>& jobs) {
  std::vector<RunRow> rows;
  for (const JobId job : jobs) {
    auto more = runs_of_jobs(pool, query, {job});
    if (!more) return fail(more.error());
    for (RunRow& row : *more) rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(),
            [](const RunRow& a, const RunRow& b) { return a.run.id > b.run.id; });
  const auto most = static_cast<std::size_t>(rows_asked(query.limit));
  if (rows.size() > most) rows.resize(most);
  return rows;
}

/// For so many jobs that the newest runs are soon among them: from the newest run backwards.
Result<std::vector<RunRow>> runs_of_many(ConnectionPool& pool, const RunQuery& query) {
  std::string where = conditions_of(query) + " AND j.name = ?";
  if (query.one_off) where += " AND j.one_off = ?";
  return rows_of<RunRow>(
      pool,
      fmt::format("SELECT STRAIGHT_JOIN {}, j.name FROM run r FORCE INDEX (PRIMARY) "
                  "JOIN job j ON j.job_id = r.job_id ", kRunColumns) + where + newest_first(query.limit),
      [&](Binder& binder) {
        bind_conditions(binder, query);
        binder.text(query.job);
        if (query.one_off) binder.integer(*query.one_off ? 1 : 0);
      },
      read_run_row);
}

}  // namespace

MysqlReader::MysqlReader(MysqlOptions options, PoolOptions pool)
    : pool_(std::move(options), pool) {}

Result<std::vector<RunRow>> MysqlReader::list_runs(const RunQuery& query) {
  if (query.job.empty()) {
    return rows_of<RunRow>(
        pool_, select_runs() + std::string(kWithJob) + conditions_of(query) + newest_first(query.limit),
        [&](Binder& binder) { bind_conditions(binder, query); }, read_run_row);
  }
  const auto jobs = jobs_of(pool_, query);
  if (!jobs) return fail(jobs.error());
  if (jobs->size() <= kFewJobs) return runs_of_few(pool_, query, *jobs);
  return jobs->size() <= kMostJobsNamed ? runs_of_jobs(pool_, query, *jobs) : runs_of_many(pool_, query);
}

/// The newest ids by the index on (job, run), which is skipped through; then their rows by id.
Result<std::map<JobId, RunRow>> MysqlReader::newest_runs_of(const std::vector<JobId>& jobs) {
  std::map<JobId, RunRow> newest;
  for (std::size_t first = 0; first < jobs.size();) {
    const std::size_t size = next_chunk(first, jobs.size() - first, {});
    auto rows = rows_of<RunRow>(
        pool_,
        select_runs() + std::string(kWithJob) +
            fmt::format("JOIN (SELECT MAX(n.run_id) AS run_id FROM run n WHERE n.job_id IN ({}) "
                        "GROUP BY n.job_id) newest ON newest.run_id = r.run_id",
                        marks(size)),
        [&](Binder& binder) {
          for (std::size_t i = 0; i < size; ++i) binder.integer(jobs[first + i].value);
        },
        read_run_row);
    if (!rows) return fail(rows.error());
    for (RunRow& row : *rows) newest.emplace(row.run.job, std::move(row));
    first += size;
  }
  return newest;
}

Result<RunRow> MysqlReader::get_run(RunId id) {
  auto rows = rows_of<RunRow>(
      pool_, select_runs() + std::string(kWithJob) + "WHERE r.run_id = ?",
      [&](Binder& binder) { binder.integer(id.value); }, read_run_row);
  if (!rows) return fail(rows.error());
  if (rows->empty()) return fail(ErrorCode::NotFound, fmt::format("no run {}", id.value));
  return std::move(rows->front());
}

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
                                                   std::int32_t limit) {
  return rows_of<JobRow>(
      pool_,
      fmt::format("SELECT {}, {} FROM job j JOIN job_version v ON v.job_id = j.job_id "
                  "AND v.version = j.version WHERE j.namespace = ? AND j.saved_name LIKE ? ESCAPE '!' "
                  "ORDER BY j.saved_name LIMIT {}",
                  kJobColumns, kVersionColumns, rows_asked(limit)),
      [&](Binder& binder) { binder.text(space).text(like_prefix(prefix)); }, read_job_row);
}

Result<JobRow> MysqlReader::get_job(const std::string& space, const std::string& name) {
  auto rows = rows_of<JobRow>(
      pool_,
      fmt::format("SELECT {}, {} FROM job j JOIN job_version v ON v.job_id = j.job_id "
                  "AND v.version = j.version WHERE j.namespace = ? AND j.saved_name = ?",
                  kJobColumns, kVersionColumns),
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
                  "AND v.version = j.version WHERE j.namespace = ? AND j.name = ? AND j.one_off = 0 "
                  "AND j.state = 'deleted' ORDER BY j.changed_ms DESC, j.job_id DESC LIMIT 1",
                  kJobColumns, kVersionColumns),
      [&](Binder& binder) { binder.text(space).text(name); }, read_job_row);
  if (!rows) return fail(rows.error());
  if (rows->empty() || rows->front().job.name != name) return fail(no_deleted(space, name));
  return std::move(rows->front());
}

Result<std::shared_ptr<const model::JobDefinition>> MysqlReader::definition_of(JobId job,
                                                                               JobVersion version) {
  auto rows = rows_of<model::JobVersionRow>(
      pool_,
      fmt::format("SELECT {} FROM job_version v WHERE v.job_id = ? AND v.version = ?", kVersionColumns),
      [&](Binder& binder) { binder.integer(job.value).integer(version); }, read_version);
  if (!rows) return fail(rows.error());
  if (rows->empty()) {
    return fail(ErrorCode::NotFound, fmt::format("no version {} of job {}", version, job.value));
  }
  return rows->front().definition;
}

Result<std::vector<model::WorkerDeath>> MysqlReader::deaths_of(const std::string& worker_id) {
  return rows_of<model::WorkerDeath>(
      pool_,
      fmt::format("SELECT {} FROM worker_death d WHERE ? IN ('', d.worker_id) "
                  "ORDER BY d.worker_id, d.incarnation", kDeathColumns),
      [&](Binder& binder) { binder.text(worker_id); },
      [](Row& row) -> Result<model::WorkerDeath> { return read_death(row); });
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

Result<std::vector<model::JobVersionRow>> MysqlReader::versions_of(JobId job) {
  return rows_of<model::JobVersionRow>(
      pool_,
      fmt::format("SELECT {} FROM job_version v WHERE v.job_id = ? ORDER BY v.version", kVersionColumns),
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
      fmt::format("SELECT {} FROM run r WHERE r.job_id = ? AND r.tick_ms > ? AND r.tick_ms <= ? "
                  "ORDER BY r.tick_ms LIMIT {}",
                  kRunColumns, rows_asked(limit)),
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
      fmt::format("SELECT {} FROM run r WHERE r.run_id > ? ORDER BY r.run_id LIMIT {}", kRunColumns,
                  rows_asked(limit)),
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
