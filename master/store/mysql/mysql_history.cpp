#include "master/store/mysql/mysql_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "common/model/run.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/contents.h"
#include "master/store/mysql/literals.h"
#include "master/store/mysql/multi_row.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

constexpr MultiRow kRaiseGone{
    "INSERT INTO history_gone (job_id, through_ms) VALUES", 2,
    "ON DUPLICATE KEY UPDATE through_ms = GREATEST(through_ms, VALUES(through_ms))"};

/// Late output of runs up to this one belongs to a run that was deleted, and is not stored any more.
std::string raise_gone_through(const std::vector<RunId>& runs) {
  const RunId last = *std::max_element(runs.begin(), runs.end());
  return fmt::format(
      "INSERT INTO setting (namespace, name, value, principal, changed_ms) VALUES ('', 'runs_gone_through', "
      "'{0}', '', CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)) ON DUPLICATE KEY UPDATE "
      "value = IF(CAST(value AS SIGNED) < {0}, VALUES(value), value)",
      last.value);
}

constexpr std::size_t kContentsNamed = 500;  // in one statement

/// What the newest version of a row's job says; 0: nothing, or the job is not known.
constexpr std::string_view kKeepRuns =
    "COALESCE(CAST(JSON_EXTRACT(IF(v.content_hash IS NULL, v.rules, d.rules), '$.keep_runs_ms') "
    "AS SIGNED), 0)";
constexpr std::string_view kNewestVersion =
    "LEFT JOIN job j ON j.job_id = {0}.job_id "
    "LEFT JOIN job_version v ON v.job_id = j.job_id AND v.version = j.version "
    "LEFT JOIN definition d ON d.hash = v.content_hash";

std::string newest_version_of(std::string_view table) {
  return fmt::format(fmt::runtime(kNewestVersion), table);
}

PoolOptions one_at_a_time() {
  PoolOptions pool;
  pool.connections = 1;
  return pool;
}

Result<PastRun> read_past_run(Row& row) {
  PastRun out;
  out.run = RunId{row.integer()};
  out.job = JobId{row.integer()};
  out.tick = row.maybe_time();
  const auto state = model::run_state_named(row.text());
  if (!state) return fail(ErrorCode::Corrupt, fmt::format("run {}: its state", out.run.value));
  out.is_final = model::is_final(*state);
  out.recorded = row.time();
  out.ended = row.time();
  return out;
}

/// What their newest versions say, each read once: most runs of a page are of a few jobs.
Result<void> fill_keep_runs(Connection& connection, std::vector<PastRun>& runs) {
  std::map<std::int64_t, Millis> keep;
  std::set<std::int64_t> jobs;
  for (const PastRun& run : runs) jobs.insert(run.job.value);
  if (jobs.empty()) return {};
  auto read = connection.stream(
      fmt::format("SELECT j.job_id, {} FROM job j JOIN job_version v ON v.job_id = j.job_id "
                  "AND v.version = j.version {} WHERE j.job_id IN ({})",
                  kKeepRuns, kJoinContent, fmt::join(jobs, ",")),
      [&](Row& row) -> Result<void> {
        const std::int64_t job = row.integer();
        keep[job] = Millis{row.integer()};
        return {};
      });
  for (PastRun& run : runs) run.keep_runs = keep[run.job.value];
  return read;
}

Result<void> run_all(Connection& connection, const std::vector<std::string>& statements) {
  for (const std::string& statement : statements) {
    if (auto done = connection.run_text(statement); !done) return fail(done.error());
  }
  return {};
}

/// What is stored of runs beside their rows.
constexpr std::array<std::string_view, 5> kTablesOfRuns = {"attempt", "run_note", "log_pruned",
                                                           "run_unsuccessful", "late_told"};

/// Deletes what these tables hold of the runs. Mostly they hold nothing of a whole page, which one range of
/// each key tells, asked at once; a list of all the ids would be looked up one by one.
Result<void> erase_beside(Connection& connection, const std::vector<RunId>& runs) {
  const std::set<RunId> wanted(runs.begin(), runs.end());
  std::array<std::vector<RunId>, kTablesOfRuns.size()> held;
  std::string question;
  for (std::size_t i = 0; i < kTablesOfRuns.size(); ++i) {
    question += fmt::format("{}SELECT DISTINCT {} AS place, run_id FROM {} WHERE run_id BETWEEN {} AND {}",
                            i == 0 ? "" : " UNION ALL ", i, kTablesOfRuns[i], wanted.begin()->value,
                            wanted.rbegin()->value);
  }
  auto asked = connection.stream(question, [&](Row& row) -> Result<void> {
    const auto place = static_cast<std::size_t>(row.integer());
    const RunId run{row.integer()};
    if (wanted.contains(run)) held.at(place).push_back(run);
    return {};
  });
  for (std::size_t i = 0; asked && i < kTablesOfRuns.size(); ++i) {
    if (held[i].empty()) continue;
    asked = run_all(connection, {fmt::format("DELETE FROM {} WHERE run_id IN ({})", kTablesOfRuns[i],
                                             run_numbers(held[i]))});
  }
  return asked;
}

/// What was noted of children stays as long as parent or child does.
class ChildRowsGone {
 public:
  ChildRowsGone(Connection& connection, const std::vector<RunId>& runs)
      : connection_(connection), wanted_(runs.begin(), runs.end()) {}

  /// Behind the deletion of the runs, in the same transaction, which sees it.
  Result<void> erase() {
    for (const char* column : {"parent_id", "run_id"}) {
      if (auto found = find(column); !found) return found;
    }
    if (rows_.empty()) return {};
    if (auto asked = forget_those_that_stay(); !asked) return asked;
    std::string keys;
    for (const auto& [key, run] : rows_) {
      keys += fmt::format("{}({}, ", keys.empty() ? "" : ",", key.first);
      LiteralBinder(keys).text(key.second);
      keys += ')';
    }
    if (keys.empty()) return {};
    return run_all(connection_, {"DELETE FROM run_child WHERE (parent_id, name) IN (" + keys + ")"});
  }

 private:
  Result<void> find(const char* column) {
    return connection_.stream(
        fmt::format("SELECT parent_id, name, run_id FROM run_child WHERE {} BETWEEN {} AND {}", column,
                    wanted_.begin()->value, wanted_.rbegin()->value),
        [&](Row& row) -> Result<void> {
          const std::int64_t parent = row.integer();
          const std::string name = row.text();
          const std::int64_t run = row.integer();
          if (wanted_.contains(RunId{parent}) || wanted_.contains(RunId{run})) rows_[{parent, name}] = run;
          return {};
        });
  }

  Result<void> forget_those_that_stay() {
    std::set<std::int64_t> runs, there;
    for (const auto& [key, run] : rows_) runs.insert({key.first, run});
    auto asked = connection_.stream(
        fmt::format("SELECT run_id FROM run WHERE run_id IN ({})", fmt::join(runs, ",")),
        [&](Row& row) -> Result<void> {
          there.insert(row.integer());
          return {};
        });
    std::erase_if(rows_, [&](const auto& row) {
      return there.contains(row.first.first) || there.contains(row.second);
    });
    return asked;
  }

  Connection& connection_;
  const std::set<RunId> wanted_;
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> rows_;  ///< by their keys: the child's run
};

using JobNumbers = std::set<std::int64_t>;

/// Those one-offs among the jobs that have no run. From the newest one backwards: the oldest entries of the
/// index are of runs that were deleted just now.
Result<JobNumbers> idle_one_offs(Connection& connection, const JobNumbers& jobs) {
  JobNumbers idle;
  auto asked = connection.stream(
      fmt::format("SELECT j.job_id FROM job j WHERE j.job_id IN ({}) AND j.one_off = 1 AND (SELECT r.run_id "
                  "FROM run r WHERE r.job_id = j.job_id ORDER BY r.run_id DESC LIMIT 1) IS NULL",
                  fmt::join(jobs, ",")),
      [&](Row& row) -> Result<void> {
        idle.insert(row.integer());
        return {};
      });
  if (!asked) return fail(asked.error());
  return idle;
}

/// The leader forgets the job of a one-off with its last unfinished run. When the same is submitted again,
/// it writes the job's rows again, before those of the run. So the rows of jobs that seem idle are locked,
/// and then runs are looked for once more.
Result<void> erase_idle_one_offs(Connection& connection, const JobNumbers& jobs) {
  const auto seem_idle = idle_one_offs(connection, jobs);
  if (!seem_idle) return fail(seem_idle.error());
  if (seem_idle->empty()) return {};
  auto locked = connection.stream(
      fmt::format("SELECT job_id FROM job WHERE job_id IN ({}) FOR UPDATE", fmt::join(*seem_idle, ",")),
      [](Row&) -> Result<void> { return {}; });
  if (!locked) return locked;
  const auto idle = idle_one_offs(connection, *seem_idle);
  if (!idle) return fail(idle.error());
  if (idle->empty()) return {};
  const std::string of_jobs = fmt::format("job_id IN ({})", fmt::join(*idle, ","));
  return run_all(connection,
                 {"DELETE FROM job_version WHERE " + of_jobs, "DELETE FROM job WHERE " + of_jobs});
}

/// A condition on versions v: each content is read once, not for each of the jobs that point at it.
Result<std::string> versions_that_may_keep(Connection& connection) {
  std::string contents;
  std::size_t count = 0;
  auto read = connection.stream(
      "SELECT hash FROM definition d "
      "WHERE COALESCE(CAST(JSON_EXTRACT(d.rules, '$.keep_runs_ms') AS SIGNED), 0) > 0",
      [&](Row& row) -> Result<void> {
        if (++count > kContentsNamed) return {};
        if (!contents.empty()) contents += ',';
        LiteralBinder(contents).text(row.text());
        return {};
      });
  if (!read) return fail(read.error());
  if (count > kContentsNamed) return std::string("TRUE");
  return "v.content_hash IS NULL" + (count == 0 ? "" : " OR v.content_hash IN (" + contents + ")");
}

}  // namespace

MysqlHistory::MysqlHistory(MysqlOptions options) : pool_(std::move(options), one_at_a_time()) {}

Result<std::optional<Millis>> MysqlHistory::shortest_keep() {
  std::optional<Millis> shortest;
  auto done = pool_.with([&](Connection& connection) -> Result<void> {
    const auto among = versions_that_may_keep(connection);
    if (!among) return fail(among.error());
    return connection.stream(
        fmt::format("SELECT MIN(k.keep_ms) FROM (SELECT {} AS keep_ms FROM job_version v STRAIGHT_JOIN job j "
                    "ON j.job_id = v.job_id AND j.version = v.version {} WHERE v.job_id < {} "
                    "AND j.one_off = 0 AND ({})) k WHERE k.keep_ms > 0",
                    kKeepRuns, kJoinContent, kOneOffBit, *among),
        [&](Row& row) -> Result<void> {
          const auto keep = row.maybe_integer();
          shortest = keep ? std::optional(Millis{*keep}) : std::nullopt;
          return {};
        });
  });
  if (!done) return fail(done.error());
  return shortest;
}

Result<std::vector<PastRun>> MysqlHistory::past_runs(RunId after, std::int32_t limit) {
  std::vector<PastRun> found;
  auto done = pool_.with([&](Connection& connection) {
    found.clear();
    auto read = connection.stream(
        fmt::format("SELECT r.run_id, r.job_id, r.tick_ms, r.state, r.recorded_ms, "
                    "GREATEST(COALESCE(r.ended_ms, 0), r.recorded_ms) FROM run r "
                    "WHERE r.run_id > {} ORDER BY r.run_id LIMIT {}",
                    after.value, std::max(limit, 1)),
        [&](Row& row) -> Result<void> {
          auto run = read_past_run(row);
          if (!run) return fail(run.error());
          found.push_back(*run);
          return {};
        });
    return read ? fill_keep_runs(connection, found) : read;
  });
  if (!done) return fail(done.error());
  return found;
}

Result<std::vector<PastGap>> MysqlHistory::past_gaps(const GapKey& after, std::int32_t limit) {
  std::vector<PastGap> found;
  auto done = pool_.with([&](Connection& connection) {
    found.clear();
    // Spelled out, since row comparisons do not use the key everywhere.
    return connection.stream(
        fmt::format("SELECT g.job_id, g.job_version, g.from_ms, g.to_ms, {0} FROM gap g {1} "
                    "WHERE g.job_id >= {2} AND (g.job_id > {2} OR g.job_version > {3} OR "
                    "(g.job_version = {3} AND g.from_ms > {4})) "
                    "ORDER BY g.job_id, g.job_version, g.from_ms LIMIT {5}",
                    kKeepRuns, newest_version_of("g"), after.job.value, after.version,
                    to_ms(after.from), std::max(limit, 1)),
        [&](Row& row) -> Result<void> {
          PastGap gap;
          gap.key.job = JobId{row.integer()};
          gap.key.version = static_cast<JobVersion>(row.integer());
          gap.key.from = row.time();
          gap.to = row.time();
          gap.keep_runs = Millis{row.integer()};
          found.push_back(gap);
          return {};
        });
  });
  if (!done) return fail(done.error());
  return found;
}

Result<void> MysqlHistory::forget_through(const std::map<JobId, WallTime>& moments) {
  if (moments.empty()) return {};
  const std::vector<std::pair<JobId, WallTime>> rows(moments.begin(), moments.end());
  return pool_.with([&](Connection& connection) -> Result<void> {
    auto raised = write_rows(connection, kRaiseGone,
                             {rows.size(), [&](Binder& binder, std::size_t i) {
                                binder.integer(rows[i].first.value).time(rows[i].second);
                              }});
    return raised ? Result<void>() : fail(raised.error());
  });
}

Result<void> MysqlHistory::erase_runs(const std::vector<PastRun>& runs) {
  std::vector<RunId> ids;
  JobNumbers jobs;
  for (const PastRun& run : runs) {
    if (!run.is_final) continue;
    ids.push_back(run.run);
    jobs.insert(run.job.value);
  }
  if (ids.empty()) return {};
  return pool_.with([&](Connection& connection) -> Result<void> {
    if (auto begun = connection.begin(); !begun) return begun;
    if (auto raised = run_all(connection, {raise_gone_through(ids)}); !raised) return raised;
    if (auto beside = erase_beside(connection, ids); !beside) return beside;
    auto erased = run_all(connection,
                          {fmt::format("DELETE FROM run WHERE run_id IN ({}) AND state NOT IN ({})",
                                       run_numbers(ids), kUnfinishedStates)});
    if (!erased) return erased;
    if (auto gone = ChildRowsGone(connection, ids).erase(); !gone) return gone;
    if (auto done = erase_idle_one_offs(connection, jobs); !done) return done;
    return connection.end_transaction();
  });
}

Result<void> MysqlHistory::erase_gaps(const std::vector<GapKey>& gaps) {
  if (gaps.empty()) return {};
  std::string rows, told;
  for (const GapKey& gap : gaps) {
    told += fmt::format("{}(job_id = {} AND run_id = 0 AND tick_ms = {})", told.empty() ? "" : " OR ",
                        gap.job.value, to_ms(gap.from));
    rows += fmt::format("{}(job_id = {} AND job_version = {} AND from_ms = {})", rows.empty() ? "" : " OR ",
                        gap.job.value, gap.version, to_ms(gap.from));
  }
  return pool_.with([&](Connection& connection) -> Result<void> {
    return run_all(connection,
                   {"DELETE FROM gap WHERE " + rows, "DELETE FROM late_told WHERE " + told});
  });
}

}  // namespace rota::master::store
