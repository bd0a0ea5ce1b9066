// Lists of runs, and single ones with their job's name.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "master/store/mysql/connection.h"
#include "master/store/mysql/kept_runs.h"
#include "master/store/mysql/multi_row.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/rows_of.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

Result<RunRow> read_run_row(Row& row) {
  auto run = read_run(row);
  if (!run) return fail(run.error());
  return RunRow{std::move(*run), row.text()};
}

Result<JobId> read_job_id(Row& row) { return JobId{row.integer()}; }

std::string select_runs() { return fmt::format("SELECT {}, j.name FROM run r {}", kRunColumns, kWithOpen); }
constexpr std::string_view kWithJob = "LEFT JOIN job j ON j.job_id = r.job_id ";

/// The conditions of a RunQuery except its job, and below the values of their question marks, in the same
/// order.
std::string conditions_of(const RunQuery& query) {
  std::string where = "WHERE r.namespace = ?";
  if (!query.states.empty()) where += fmt::format(" AND {} IN ({})", kRunState, marks(query.states.size()));
  if (query.since) where += " AND r.scheduled_ms >= ?";
  if (query.before) where += " AND r.run_id < ?";
  if (query.parent) where += " AND r.run_id IN (SELECT c.run_id FROM run_child c WHERE c.parent_id = ?)";
  if (query.root) where += " AND r.run_id IN (SELECT c.run_id FROM run_child c WHERE c.root_id = ?)";
  if (query.worker.empty()) return where;
  where += fmt::format(" AND {} = ?", kRunWorker);
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
  if (query.parent) binder.integer(query.parent->value);
  if (query.root) binder.integer(query.root->value);
  if (!query.worker.empty()) binder.text(query.worker);
}

std::string newest_first(std::int32_t limit, std::string_view alias = "r") {
  return fmt::format(" ORDER BY {}.run_id DESC LIMIT {}", alias, rows_asked(limit));
}

/// Of what several questions found.
std::vector<RunRow> newest_of(std::vector<RunRow> rows, std::int32_t limit) {
  std::sort(rows.begin(), rows.end(),
            [](const RunRow& a, const RunRow& b) { return a.run.id > b.run.id; });
  const auto most = static_cast<std::size_t>(rows_asked(limit));
  if (rows.size() > most) rows.resize(most);
  return rows;
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

/// Most runs have succeeded: those are soon found among the newest, from the newest backwards.
bool asks_for_success(const RunQuery& query) {
  return std::ranges::count(query.states, model::RunState::Succeeded) > 0;
}

/// Runs in some of the states, from that list of them ("table alias ..."), whose key gives them in order.
Result<std::vector<RunRow>> runs_of_list(ConnectionPool& pool, RunQuery query, const std::string& list,
                                         std::string_view condition, std::vector<model::RunState> states) {
  query.states = std::move(states);
  return rows_of<RunRow>(
      pool,
      fmt::format("SELECT {}, j.name FROM {} {}{}{}{}", kRunColumns, list, kWithJob, conditions_of(query),
                  condition, newest_first(query.limit, list.substr(list.find(' ') + 1, 1))),
      [&](Binder& binder) { bind_conditions(binder, query); }, read_run_row);
}

/// Unfinished ones by the list of them, others by the list of what ended other than well, state by state,
/// where these are kept.
Result<std::vector<RunRow>> runs_in_states(ConnectionPool& pool, const RunQuery& query) {
  KeptRuns kept;
  auto looked = pool.with([&](Connection& connection) -> Result<void> {
    auto found = look_at_kept_runs(connection);
    if (found) kept = *found;
    return found ? Result<void>() : fail(found.error());
  });
  if (!looked) return fail(looked.error());
  std::vector<RunRow> rows;
  const auto add = [&](const std::string& list, std::string_view condition,
                       std::vector<model::RunState> states) -> Result<void> {
    auto more = runs_of_list(pool, query, list, condition, std::move(states));
    if (!more) return fail(more.error());
    std::ranges::move(*more, std::back_inserter(rows));
    return {};
  };
  std::vector<model::RunState> unfinished;
  for (const model::RunState state : std::set(query.states.begin(), query.states.end())) {
    if (!model::is_final(state)) {
      unfinished.push_back(state);
      continue;
    }
    const std::string name(model::name_of(state));
    const std::string list =
        kept.ended ? "run_unsuccessful n STRAIGHT_JOIN run r ON r.run_id = n.run_id " : "run r ";
    const std::string condition = fmt::format(" AND {}.state = '{}'", kept.ended ? "n" : "r", name);
    auto added = add(list + kWithOpen, condition, {state});
    if (!added) return fail(added.error());
  }
  if (!unfinished.empty()) {
    const std::string condition = fmt::format(" AND r.state IN ({})", kUnfinishedStates);
    if (auto added = add(from_open_runs(kept), condition, unfinished); !added) return fail(added.error());
  }
  return newest_of(std::move(rows), query.limit);
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
  return newest_of(std::move(rows), query.limit);
}

/// For so many jobs that the newest runs are soon among them: from the newest run backwards.
Result<std::vector<RunRow>> runs_of_many(ConnectionPool& pool, const RunQuery& query) {
  std::string where = conditions_of(query) + " AND j.name = ?";
  if (query.one_off) where += " AND j.one_off = ?";
  return rows_of<RunRow>(
      pool,
      fmt::format("SELECT STRAIGHT_JOIN {}, j.name FROM run r FORCE INDEX (PRIMARY) "
                  "JOIN job j ON j.job_id = r.job_id {}", kRunColumns, kWithOpen) +
          where + newest_first(query.limit),
      [&](Binder& binder) {
        bind_conditions(binder, query);
        binder.text(query.job);
        if (query.one_off) binder.integer(*query.one_off ? 1 : 0);
      },
      read_run_row);
}

}  // namespace

Result<std::vector<RunRow>> MysqlReader::list_runs(const RunQuery& query) {
  if (query.job.empty() && !query.states.empty() && !asks_for_success(query)) {
    return runs_in_states(pool_, query);
  }
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

}  // namespace rota::master::store
