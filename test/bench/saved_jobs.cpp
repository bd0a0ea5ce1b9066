// A great many saved jobs: what each costs the leader's memory, and how soon after a leader's kill
// the next one records ticks.
#include <fmt/format.h>

#include <thread>

#include "common/base/ids.h"
#include "test/bench/figures.h"
#include "test/bench/job_sets.h"
#include "test/bench/leader.h"
#include "test/bench/load.h"
#include "test/bench/process_times.h"
#include "test/bench/rows.h"

namespace rota::bench {
namespace {

using master::store::Connection;

constexpr std::int64_t kShapes = 1000;
constexpr std::int64_t kTickers = 10;  // together a tick every 100 ms
constexpr double kMostJobBytes = 400, kMostTakeoverMs = 3000;
constexpr Millis kFirstTickPatience{300'000};
constexpr std::chrono::seconds kJobsSettle{2};

/// Daily at one of a thousand moments.
thrift::JobDefinition daily_job(std::int64_t number) {
  const std::int64_t shape = number % kShapes;
  thrift::JobDefinition job = noop_job(fmt::format("bench-saved-{:07}", number));
  job.rules.schedule.__set_kind("cron");
  job.rules.schedule.__set_cron(fmt::format("{} {} * * *", shape % 60, shape / 60));
  return job;
}

Result<void> apply_tickers(const Surroundings& where) {
  const std::int64_t start_ms = to_ms(SystemClock().wall());
  auto applied = apply_each(where, kTickers, [&](std::int64_t i) {
    return ticking_job(fmt::format("bench-ticker-{}", i), start_ms + i * 1000 / kTickers,
                       Millis{1000});
  });
  return applied ? Result<void>() : fail(applied.error());
}

/// From the kill of the leader to the first tick that the next one has recorded, in ms.
Result<double> takeover_ms(const Surroundings& where, Connection& connection, Leader& leader) {
  const Leader killed = leader;
  const MonoTime began = BootClock::now();
  auto next = kill_leader(where, connection, killed);
  if (!next) return fail(next.error());
  auto first =
      await_number(connection,
                   fmt::format("SELECT MIN(run_id) FROM run WHERE run_id >= {} AND kind = 'tick'",
                               next->epoch << kIdCounterBits),
                   0, kFirstTickPatience);
  if (!first) return fail(first.error());
  const double took = std::chrono::duration<double, std::milli>(BootClock::now() - began).count();
  leader = *next;
  std::this_thread::sleep_for(kJobsSettle);
  return took;
}

struct SavedFigures {
  double applied_per_s = 0;
  double applied_bytes = 0;                 ///< of a job, in the leader that took the edits
  double loaded_bytes = 0, peak_bytes = 0;  ///< in one that loaded them
  std::vector<double> takeovers_ms;
  Rate noop;                                ///< of no-op runs beside them
};

Result<SavedFigures> measure_saved(const Surroundings& where, Connection& connection,
                                   const Effort& effort) {
  const auto count = static_cast<double>(effort.count);
  auto leader = change_leader(where, connection);
  if (!leader) return fail(leader.error());
  const double empty = memory_bytes(leader->pid), empty_peak = peak_memory_bytes(leader->pid);
  const MonoTime began = BootClock::now();
  if (auto applied = apply_each(where, effort.count, daily_job); !applied)
    return fail(applied.error());
  SavedFigures out;
  out.applied_per_s = count / std::chrono::duration<double>(BootClock::now() - began).count();
  out.applied_bytes = (memory_bytes(leader->pid) - empty) / count;
  for (int i = 0; i < effort.samples; ++i) {
    const Leader killed = *leader;
    auto took = takeover_ms(where, connection, *leader);
    if (!took) return fail(took.error());
    out.takeovers_ms.push_back(*took);
    out.loaded_bytes = (memory_bytes(leader->pid) - empty) / count;
    out.peak_bytes = (peak_memory_bytes(leader->pid) - empty_peak) / count;
    if (auto back = await_return(where, killed); !back) return fail(back.error());
  }
  auto noop = run_load(where, Load{noop_job("bench-beside"), effort.seconds});
  if (!noop) return fail(noop.error());
  out.noop = *noop;
  return out;
}

}  // namespace

Result<bool> saved_jobs(const Surroundings& where, const Effort& effort) {
  auto connection = Connection::open(where.database);
  if (!connection) return fail(connection.error());
  if (auto applied = apply_tickers(where); !applied) return fail(applied.error());
  auto figures = measure_saved(where, **connection, effort);
  if (!figures) return fail(figures.error());
  const bool passed =
      figures->loaded_bytes <= kMostJobBytes && median(figures->takeovers_ms) <= kMostTakeoverMs;
  Line("saved_jobs")
      .add("jobs", static_cast<double>(effort.count))
      .add("shapes", static_cast<double>(kShapes))
      .add("batch", 1000)
      .add("applied_per_s", figures->applied_per_s)
      .add("bytes_per_job", figures->loaded_bytes)
      .add("peak_bytes_per_job", figures->peak_bytes)
      .add("bytes_per_job_after_edits", figures->applied_bytes)
      .add("kills", effort.samples)
      .add("kill_to_first_tick_ms", median(figures->takeovers_ms))
      .add_tail("kill_to_first_tick_ms", figures->takeovers_ms)
      .add("noop_runs_per_s", figures->noop.per_second())
      .add("noop_cpu_us_per_run", figures->noop.cpu_us_each())
      .print_verdict(passed, "400B,3000ms");
  return passed;
}

}  // namespace rota::bench
