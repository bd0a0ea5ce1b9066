// A minute of no-op runs at full load: whether its last third is as fast as its first, in empty
// tables and in such as hold a long history.
#include <fmt/format.h>

#include <array>
#include <thread>

#include "test/bench/job_sets.h"
#include "test/bench/load.h"
#include "test/bench/rows.h"

namespace rota::bench {
namespace {

using master::store::Connection;
using master::store::Row;

constexpr double kFloorEmpty = 0.9, kFloorFilled = 0.85;
constexpr std::int64_t kFewPages = 500;
constexpr Millis kWritePatience{60'000}, kWriteLook{200};
constexpr Millis kDay{24 * 3'600'000};

struct Thirds {
  double runs_per_s = 0;
  double cpu_us = 0;              ///< of a run
  std::array<double, 3> ended{};  ///< runs that ended in each third of the submitting
  double last_to_first() const { return ended[0] > 0 ? ended[2] / ended[0] : 0; }
};

/// Counts the runs after `before` by the third of [began, began + span) in which they ended.
Result<void> count_thirds(Connection& connection, std::int64_t before, std::int64_t began_ms,
                          std::int64_t span_ms, Thirds& out) {
  return connection.stream(
      fmt::format(
          "SELECT FLOOR((ended_ms - {0}) * 3 / {1}) AS third, COUNT(*) FROM run WHERE run_id > {2} "
          "AND ended_ms >= {0} AND ended_ms < {0} + {1} GROUP BY third",
          began_ms, span_ms, before),
      [&](Row& row) -> Result<void> {
        const auto third = static_cast<std::size_t>(row.integer());
        if (third < out.ended.size()) out.ended[third] = static_cast<double>(row.integer());
        return {};
      });
}

Result<Thirds> measure_thirds(const Surroundings& where, Connection& connection, const Load& load) {
  auto before = ask_number(connection, "SELECT COALESCE(MAX(run_id), 0) FROM run");
  if (!before) return fail(before.error());
  const std::int64_t began_ms = to_ms(SystemClock().wall());
  auto rate = run_load(where, load);
  if (!rate) return fail(rate.error());
  Thirds out;
  out.runs_per_s = rate->per_second();
  out.cpu_us = rate->cpu_us_each();
  auto counted = count_thirds(connection, *before, began_ms,
                              static_cast<std::int64_t>(load.seconds * 1000), out);
  if (!counted) return fail(counted.error());
  return out;
}

/// Until the server has written most of what was added, or 60 s: the load is not to pay for that.
Result<void> await_written(Connection& connection) {
  const MonoTime give_up = BootClock::now() + kWritePatience;
  while (BootClock::now() < give_up) {
    auto dirty = ask_number(connection,
                            "SELECT CAST(variable_value AS SIGNED) FROM information_schema.global_status "
                            "WHERE variable_name = 'INNODB_BUFFER_POOL_PAGES_DIRTY'");
    if (!dirty) return fail(dirty.error());
    if (*dirty <= kFewPages) return {};
    std::this_thread::sleep_for(kWriteLook);
  }
  return {};
}

Result<void> fill_history(Connection& connection, std::int64_t count) {
  if (count == 0) return {};
  auto model = ask_number(connection, "SELECT MAX(run_id) FROM run WHERE state = 'succeeded'");
  if (!model) return fail(model.error());
  if (auto added = add_old_runs(connection, *model, count, kDay); !added) return added;
  return await_written(connection);
}

}  // namespace

Result<bool> steady_load(const Surroundings& where, const Effort& effort) {
  auto connection = Connection::open(where.database);
  if (!connection) return fail(connection.error());
  const Load load{noop_job("bench-steady"), effort.seconds};
  auto empty = measure_thirds(where, **connection, load);
  if (!empty) return fail(empty.error());
  if (auto filled = fill_history(**connection, effort.history); !filled)
    return fail(filled.error());
  auto filled = measure_thirds(where, **connection, load);
  if (!filled) return fail(filled.error());
  auto pool = ask_number(**connection, "SELECT CAST(@@innodb_buffer_pool_size / 1048576 AS SIGNED)");
  if (!pool) return fail(pool.error());
  const bool passed =
      empty->last_to_first() >= kFloorEmpty && filled->last_to_first() >= kFloorFilled;
  Line("steady_load")
      .add("seconds", load.seconds)
      .add("batch", static_cast<double>(load.batch))
      .add("runs_per_s", empty->runs_per_s)
      .add("cpu_us_per_run", empty->cpu_us)
      .add("last_to_first_third", empty->last_to_first(), 3)
      .add("old_runs", static_cast<double>(effort.history))
      .add("buffer_pool_mib", static_cast<double>(*pool))
      .add("runs_per_s_then", filled->runs_per_s)
      .add("cpu_us_per_run_then", filled->cpu_us)
      .add("last_to_first_third_then", filled->last_to_first(), 3)
      .add("filled_to_empty", filled->runs_per_s / empty->runs_per_s, 3)
      .print_verdict(passed, "0.9,0.85");
  return passed;
}

}  // namespace rota::bench
