// Full load while retention has more to delete than it can, beside the same load with nothing to
// delete.
#include <fmt/format.h>

#include "test/bench/job_sets.h"
#include "test/bench/leader.h"
#include "test/bench/load.h"
#include "test/bench/rows.h"

namespace rota::bench {
namespace {

using master::store::Connection;

constexpr double kRetentionFloor = 0.8;
constexpr Millis kKeep{60'000};  // the least that a job may say
constexpr std::int64_t kForever = -1;
constexpr double kMostDeletedPerSecond = 20'000;

struct RetentionFigures {
  std::vector<double> with, without, ratios, deleted_per_s;
};

Load load_with(const Effort& effort, std::string name, std::int64_t keep_runs_ms) {
  Load load{noop_job(std::move(name)), effort.seconds};
  load.definition.rules.__set_keep_runs_ms(keep_runs_ms);
  return load;
}

/// A new leader begins its pass through all runs at once, and the oldest come first.
Result<Rate> load_under_a_new_leader(const Surroundings& where, Connection& connection,
                                     const Load& load) {
  auto leader = change_leader(where, connection);
  if (!leader) return fail(leader.error());
  return run_load(where, load);
}

/// Runs that are past their time, more of them than are deleted while the load lasts.
Result<std::int64_t> fill_past(const Surroundings& where, Connection& connection, Load load) {
  load.submitters = 1;
  load.calls_each = 1;
  if (auto one = run_load(where, load); !one) return fail(one.error());
  auto model = ask_number(connection, "SELECT MAX(run_id) FROM run WHERE state = 'succeeded'");
  if (!model) return fail(model.error());
  const auto count = static_cast<std::int64_t>((load.seconds + 5) * kMostDeletedPerSecond);
  if (auto added = add_old_runs(connection, *model, count, 2 * kKeep); !added)
    return fail(added.error());
  return count;
}

Result<void> measure_pair(const Surroundings& where, Connection& connection, const Effort& effort,
                          RetentionFigures& out) {
  auto without =
      load_under_a_new_leader(where, connection, load_with(effort, "bench-kept", kForever));
  if (!without) return fail(without.error());
  const Load load = load_with(effort, "bench-retention", kKeep.count());
  auto filled = fill_past(where, connection, load);
  if (!filled) return fail(filled.error());
  auto leader = change_leader(where, connection);
  if (!leader) return fail(leader.error());
  const std::string count_old = fmt::format("SELECT COUNT(*) FROM run WHERE run_id <= {}", *filled);
  auto before = ask_number(connection, count_old);
  auto with = run_load(where, load);
  auto left = ask_number(connection, count_old);
  if (!before || !with || !left)
    return fail(!with ? with.error() : (!before ? before : left).error());
  out.without.push_back(without->per_second());
  out.with.push_back(with->per_second());
  out.ratios.push_back(with->per_second() / without->per_second());
  out.deleted_per_s.push_back(static_cast<double>(*before - *left) / with->seconds);
  return erase_old_runs(connection, *filled);
}

}  // namespace

Result<bool> retention_load(const Surroundings& where, const Effort& effort) {
  auto connection = Connection::open(where.database);
  if (!connection) return fail(connection.error());
  RetentionFigures figures;
  for (int i = 0; i < effort.pairs; ++i) {
    auto measured = measure_pair(where, **connection, effort, figures);
    if (!measured) return fail(measured.error());
  }
  const bool keeps_up = median(figures.deleted_per_s) >= median(figures.with);
  const bool passed = lower_quartile(figures.ratios) >= kRetentionFloor && keeps_up;
  Line("retention_load")
      .add("pairs", effort.pairs)
      .add("batch", 500)
      .add("runs_per_s", median(figures.with))
      .add("without_per_s", median(figures.without))
      .add_spread("ratio", figures.ratios, 3)
      .add("deleted_per_s", median(figures.deleted_per_s))
      .add("keeps_up", keeps_up ? "yes" : "no")
      .print_verdict(passed, "0.8,keeps_up");
  return passed;
}

}  // namespace rota::bench
