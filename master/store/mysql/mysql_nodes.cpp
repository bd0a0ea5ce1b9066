#include "master/store/mysql/mysql_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/model/worker.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/kept_runs.h"
#include "master/store/mysql/node_rows.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

constexpr int kMinutesErased = 10;  // at once

PoolOptions one_connection() {
  PoolOptions pool;
  pool.connections = 1;
  return pool;
}

template <typename Minute>
Result<void> write_minutes(Connection& connection, const MultiRow& statement,
                           const std::vector<Minute>& rows) {
  auto written = write_rows(connection, statement, {rows.size(), [&](Binder& binder, std::size_t i) {
                                                      bind_minute(binder, rows[i]);
                                                    }});
  return written ? Result<void>() : fail(written.error());
}

/// The beginning of the oldest minute that is due; nothing: none is.
Result<std::optional<std::int64_t>> oldest_before(Connection& connection, std::string_view table,
                                                  WallTime before) {
  std::optional<std::int64_t> oldest;
  auto asked = connection.stream(
      fmt::format("SELECT MIN(minute_ms) FROM {} WHERE minute_ms < {}", table, to_ms(before)),
      [&](Row& row) -> Result<void> {
        oldest = row.maybe_integer();
        return {};
      });
  if (!asked) return fail(asked.error());
  return oldest;
}

/// Minute by minute, so that no statement holds many rows.
Result<bool> erase_oldest(Connection& connection, std::string_view table, WallTime before) {
  for (int i = 0; i < kMinutesErased; ++i) {
    const auto oldest = oldest_before(connection, table, before);
    if (!oldest) return fail(oldest.error());
    if (!*oldest) return false;
    auto done = connection.run_text(fmt::format("DELETE FROM {} WHERE minute_ms = {}", table, **oldest));
    if (!done) return fail(done.error());
  }
  return true;
}

using LifeKeys = std::set<model::WorkerKey>;

Result<LifeKeys> lives_in(Connection& connection, const std::string& query) {
  LifeKeys lives;
  auto read = connection.stream(query, [&](Row& row) -> Result<void> {
    std::string id = row.text();
    lives.insert({std::move(id), row.text()});
    return {};
  });
  if (!read) return fail(read.error());
  return lives;
}

/// That ended before, or that another one followed before, and whose end nobody saw.
Result<LifeKeys> past_lives(Connection& connection, WallTime before, std::int32_t most) {
  return lives_in(connection, fmt::format("SELECT l.worker_id, l.incarnation FROM worker_life l "
                                          "WHERE l.left_ms < {0} OR (l.left_ms IS NULL AND l.joined_ms < {0} "
                                          "AND EXISTS (SELECT 1 FROM worker_life n WHERE n.worker_id = "
                                          "l.worker_id AND n.joined_ms > l.joined_ms AND n.joined_ms < {0})) "
                                          "ORDER BY l.worker_id, l.incarnation LIMIT {1}",
                                          to_ms(before), std::max(most, 1)));
}

Result<LifeKeys> lives_with_attempts(Connection& connection) {
  const auto kept = look_at_kept_runs(connection);
  if (!kept) return fail(kept.error());
  return lives_in(connection, fmt::format("SELECT DISTINCT {}, {} FROM {} "
                                          "WHERE {} IN ('dispatched', 'running')",
                                          kRunWorker, kRunIncarnation, from_open_runs(*kept), kRunState));
}

}  // namespace

MysqlNodes::MysqlNodes(MysqlOptions options) : pool_(std::move(options), one_connection()) {}

Result<void> MysqlNodes::keep_minutes(const MinuteRows& rows) {
  return pool_.with([&](Connection& connection) -> Result<void> {
    if (auto done = write_minutes(connection, kReplaceWorkerMinutes, rows.workers); !done) return done;
    return write_minutes(connection, kReplacePoolMinutes, rows.pools);
  });
}

Result<std::map<std::string, core::WorkerWork>> MysqlNodes::work_since(WallTime minute, Epoch leader) {
  std::map<std::string, core::WorkerWork> out;
  auto done = pool_.with([&](Connection& connection) {
    out.clear();
    return connection.stream(
        fmt::format("SELECT worker_id, CAST(SUM(scheduled) AS SIGNED), CAST(SUM(succeeded) AS SIGNED), "
                    "CAST(SUM(failed) AS SIGNED) FROM worker_minute WHERE minute_ms >= {} "
                    "AND epoch <> {} GROUP BY worker_id",
                    to_ms(minute), leader.value),
        [&](Row& row) -> Result<void> {
          core::WorkerWork& work = out[row.text()];
          work.scheduled = row.integer();
          work.succeeded = row.integer();
          work.failed = row.integer();
          return {};
        });
  });
  if (!done) return fail(done.error());
  return out;
}

Result<bool> MysqlNodes::erase_minutes(WallTime before) {
  bool has_more = false;
  auto done = pool_.with([&](Connection& connection) -> Result<void> {
    has_more = false;
    for (const std::string_view table : {"worker_minute", "pool_minute"}) {
      const auto more = erase_oldest(connection, table, before);
      if (!more) return fail(more.error());
      has_more = has_more || *more;
    }
    return {};
  });
  if (!done) return fail(done.error());
  return has_more;
}

Result<std::int64_t> MysqlNodes::erase_lives(WallTime before, std::int32_t most) {
  std::int64_t erased = 0;
  auto done = pool_.with([&](Connection& connection) -> Result<void> {
    erased = 0;
    const auto past = past_lives(connection, before, most);
    if (!past) return fail(past.error());
    if (past->empty()) return {};
    const auto busy = lives_with_attempts(connection);
    if (!busy) return fail(busy.error());
    for (const model::WorkerKey& life : *past) {
      if (busy->contains(life)) continue;
      const auto count = connection.change(
          "DELETE FROM worker_life WHERE worker_id = ? AND incarnation = ?",
          [&](Binder& binder) { binder.text(life.id).text(life.incarnation); });
      if (!count) return fail(count.error());
      erased += *count;
    }
    return {};
  });
  if (!done) return fail(done.error());
  return erased;
}

}  // namespace rota::master::store
