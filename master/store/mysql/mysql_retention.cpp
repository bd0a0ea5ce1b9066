#include "master/store/mysql/mysql_retention.h"

#include <fmt/format.h>

#include "common/model/run.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/multi_row.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

constexpr MultiRow kInsertPruned{"INSERT INTO log_pruned (run_id, pruned_ms) VALUES", 2,
                                 "ON DUPLICATE KEY UPDATE run_id = run_id"};

/// That of output and that of runs, each one round after the other.
PoolOptions two_connections() {
  PoolOptions pool;
  pool.connections = 2;
  return pool;
}

Result<LoggedRun> read_logged_run(Row& row) {
  LoggedRun out;
  out.run = RunId{row.integer()};
  const auto state = model::run_state_named(row.text());
  if (!state) return fail(ErrorCode::Corrupt, fmt::format("run {}: its state", out.run.value));
  out.is_final = model::is_final(*state);
  out.ended = row.time();
  out.keep_logs = Millis{row.integer()};
  return out;
}

}  // namespace

MysqlRetention::MysqlRetention(MysqlOptions options) : pool_(std::move(options), two_connections()) {}

Result<std::vector<LoggedRun>> MysqlRetention::logged_runs(const std::vector<RunId>& runs) {
  std::vector<LoggedRun> found;
  if (runs.empty()) return found;
  auto done = pool_.with([&](Connection& connection) {
    found.clear();
    return connection.stream(
        "SELECT r.run_id, r.state, GREATEST(COALESCE(r.ended_ms, 0), r.recorded_ms), "
        "COALESCE(CAST(JSON_EXTRACT(IF(v.content_hash IS NULL, v.rules, d.rules), '$.keep_logs_ms') "
        "AS SIGNED), 0) FROM run r "
        "LEFT JOIN job j ON j.job_id = r.job_id "
        "LEFT JOIN job_version v ON v.job_id = j.job_id AND v.version = j.version "
        "LEFT JOIN definition d ON d.hash = v.content_hash "
        "WHERE r.run_id IN (" + run_numbers(runs) + ") ORDER BY r.run_id",
        [&](Row& row) -> Result<void> {
          auto run = read_logged_run(row);
          if (!run) return fail(run.error());
          found.push_back(*run);
          return {};
        });
  });
  if (!done) return fail(done.error());
  return found;
}

Result<void> MysqlRetention::note_pruned(const std::vector<RunId>& runs, WallTime at) {
  if (runs.empty()) return {};
  return pool_.with([&](Connection& connection) -> Result<void> {
    auto noted = write_rows(connection, kInsertPruned,
                            {runs.size(), [&](Binder& binder, std::size_t i) {
                               binder.integer(runs[i].value).time(at);
                             }});
    return noted ? Result<void>() : fail(noted.error());
  });
}

}  // namespace rota::master::store
