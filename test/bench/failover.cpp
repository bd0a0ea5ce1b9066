// kill -9 of the leader, again and again, under saved jobs that tick all the time: how late the
// latest tick is.
#include <fmt/format.h>

#include <thread>

#include "test/bench/figures.h"
#include "test/bench/job_sets.h"
#include "test/bench/leader.h"
#include "test/bench/rows.h"

namespace rota::bench {
namespace {

using master::store::Connection;

constexpr double kMostMedianMs = 100, kMostTailMs = 500;
constexpr std::chrono::seconds kQuiet{2}, kAfterKill{3};

std::int64_t wall_now_ms() { return to_ms(SystemClock().wall()); }

/// Ticks spread evenly, a millisecond apart.
Result<void> apply_ticking(const Surroundings& where, std::int64_t count) {
  const std::int64_t start_ms = wall_now_ms();
  auto applied = apply_each(where, count, [&](std::int64_t i) {
    return ticking_job(fmt::format("bench-failover-{:06}", i), start_ms + i, Millis{count});
  });
  return applied ? Result<void>() : fail(applied.error());
}

Result<double> latest_tick_ms(Connection& connection, std::int64_t from_ms, std::int64_t until_ms) {
  auto latest = ask_number(
      connection,
      fmt::format("SELECT COALESCE(MAX(recorded_ms - tick_ms), 0) FROM run WHERE scheduled_ms "
                  ">= {} AND scheduled_ms < {} AND kind = 'tick'",
                  from_ms, until_ms));
  if (!latest) return fail(latest.error());
  return static_cast<double>(*latest);
}

struct Failovers {
  std::vector<double> before, after;
};

Result<void> kill_once(const Surroundings& where, Connection& connection, Failovers& out) {
  auto leader = find_leader(where, connection);
  if (!leader) return fail(leader.error());
  std::this_thread::sleep_for(kQuiet);
  const std::int64_t killed_ms = wall_now_ms();
  if (auto next = kill_leader(where, connection, *leader); !next) return fail(next.error());
  std::this_thread::sleep_for(kAfterKill);
  auto before = latest_tick_ms(connection, killed_ms - 1500, killed_ms - 300);
  auto after = latest_tick_ms(connection, killed_ms - 300, killed_ms + 2000);
  if (!before || !after) return fail((!before ? before : after).error());
  out.before.push_back(*before);
  out.after.push_back(*after);
  return await_return(where, *leader);
}

}  // namespace

Result<bool> failover(const Surroundings& where, const Effort& effort) {
  auto connection = Connection::open(where.database);
  if (!connection) return fail(connection.error());
  if (auto applied = apply_ticking(where, effort.count); !applied) return fail(applied.error());
  Failovers lateness;
  for (int i = 0; i < effort.samples; ++i) {
    if (auto killed = kill_once(where, **connection, lateness); !killed)
      return fail(killed.error());
  }
  const bool passed =
      median(lateness.after) <= kMostMedianMs && percentile(lateness.after, 0.99) <= kMostTailMs;
  Line("failover")
      .add("kills", effort.samples)
      .add("jobs", static_cast<double>(effort.count))
      .add("ticks_per_s", 1000)
      .add_spread("latest_tick_ms", lateness.after)
      .add_tail("latest_tick_ms", lateness.after)
      .add("without_a_kill_ms", median(lateness.before))
      .print_verdict(passed, "median<=100ms,p99<=500ms");
  return passed;
}

}  // namespace rota::bench
