#include <atomic>
#include <thread>

#include "test/bench/raw_runs.h"
#include "test/bench/rows.h"

namespace rota::bench {
namespace {

using master::store::Connection;

/// Inserts until `end`, one row a transaction; gives how many.
Result<std::int64_t> insert_until(const Surroundings& where, MonoTime end) {
  auto connection = Connection::open(where.database);
  if (!connection) return fail(connection.error());
  std::int64_t count = 0;
  for (; BootClock::now() < end; ++count) {
    auto written = (*connection)
                       ->change("INSERT INTO bench_commit (at_ms) VALUES (?)",
                                [](master::store::Binder& binder) { binder.integer(1); });
    if (!written) return fail(written.error());
  }
  return count;
}

std::int64_t insert_on_all(const Surroundings& where, int connections, MonoTime end,
                           std::atomic<bool>& failed) {
  std::atomic<std::int64_t> sum = 0;
  std::vector<std::jthread> writers;
  for (int i = 0; i < connections; ++i) {
    writers.emplace_back([&] {
      const auto count = insert_until(where, end);
      if (count) sum += *count;
      if (!count) failed = true;
    });
  }
  writers.clear();
  return sum;
}

}  // namespace

Result<Rate> raw_commits(const Surroundings& where, int connections, double seconds) {
  auto connection = Connection::open(where.database);
  if (!connection) return fail(connection.error());
  auto made = (*connection)
                  ->run_text(
                      "CREATE TABLE IF NOT EXISTS bench_commit (id BIGINT PRIMARY KEY "
                      "AUTO_INCREMENT, at_ms BIGINT NOT NULL) ENGINE=InnoDB");
  if (!made) return fail(made.error());
  std::atomic<bool> failed = false;
  const MonoTime began = BootClock::now();
  const MonoTime end =
      began + std::chrono::duration_cast<Micros>(std::chrono::duration<double>(seconds));
  Rate rate;
  rate.count = insert_on_all(where, connections, end, failed);
  rate.seconds = std::chrono::duration<double>(BootClock::now() - began).count();
  (void)(*connection)->run_text("DROP TABLE IF EXISTS bench_commit");
  if (failed) return fail(ErrorCode::Unavailable, "a connection of the raw commits failed");
  return rate;
}

}  // namespace rota::bench
