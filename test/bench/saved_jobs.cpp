// A great many saved jobs: what each costs the leader's memory, and how soon after a leader's kill
// the next one records ticks. Daily jobs, or a mixture of schedules with calendars.
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

using MakeJob = thrift::JobDefinition (*)(std::int64_t number);

/// Daily at one of a thousand moments.
thrift::JobDefinition daily_job(std::int64_t number) {
  const std::int64_t shape = number % kShapes;
  thrift::JobDefinition job = noop_job(fmt::format("bench-saved-{:07}", number));
  job.rules.schedule.__set_kind("cron");
  job.rules.schedule.__set_cron(fmt::format("{} {} * * *", shape % 60, shape / 60));
  return job;
}

/// One of ten kinds of schedule, most with a calendar or a zone with summer time, at one of a hundred moments.
thrift::JobDefinition mixed_job(std::int64_t number) {
  const std::int64_t moment = number / 10 % 100;
  const std::string at = fmt::format("{} {}", moment % 60, 9 + moment / 60);
  const std::string time = fmt::format("time {:02}:{:02}", 9 + moment / 60, moment % 60);
  const std::string germany = "; time_zone Europe/Berlin; calendars bench-germany";
  const std::string new_york = "; time_zone America/New_York; calendars bench-exchange";
  const std::vector<std::vector<std::string>> kinds = {
      {"cron " + at + " * * *"},
      {"cron " + at + " * * *; time_zone Europe/Berlin"},
      {"cron " + at + " * * *" + germany},
      {"cron " + at + " 1 * *" + new_york + "; otherwise next"},
      {"cron 0 " + at + " ? * MON-FRI; dialect quartz; time_zone America/New_York; skipped_time quartz"},
      {"cron 0 " + at + " L * ?; dialect quartz" + germany + "; otherwise previous"},
      {"working_day -1; " + time + germany},
      {"cron H H * * *; calendars bench-germany,bench-exchange; day -1"},
      {"cron " + at + " * * *" + germany, "working_day 5; " + time + new_york + "; name fifth"},
      {"every 6h; between 09:30-16:00" + new_york},
  };
  thrift::JobDefinition job = noop_job(fmt::format("bench-mixed-{:07}", number));
  job.rules.schedule.__set_kind("entries");
  job.rules.schedule.__set_entries(kinds[static_cast<std::size_t>(number % 10)]);
  return job;
}

/// The calendars that mixed_job names.
Result<void> apply_calendars(const Surroundings& where) {
  std::vector<thrift::CalendarEdit> edits(2);
  thrift::Calendar& germany = edits[0].calendar;
  germany.__set_name("bench-germany");
  germany.__set_days("mon-fri");
  germany.__set_excluded({"2026-12-25..2026-12-26", "2027-01-01", "2027-03-26", "2027-03-29", "2027-05-01"});
  thrift::Calendar& exchange = edits[1].calendar;
  exchange.__set_name("bench-exchange");
  exchange.__set_days("mon-fri");
  exchange.__set_time_zone("America/New_York");
  exchange.__set_excluded({"2026-11-26", "2026-12-25", "2027-01-01", "2027-01-18", "2027-02-15"});
  exchange.__set_hours({{"2026-11-27", "09:30-13:00"}, {"2026-12-24", "09:30-13:00"}});
  client::Cluster cluster(where.client());
  auto applied = cluster.apply_calendars(edits, false);
  if (!applied) return fail(applied.error());
  for (const thrift::CalendarEdited& one : *applied) {
    if (one.__isset.error) return fail(ErrorCode::Internal, one.error.message);
  }
  return {};
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
                                   const Effort& effort, MakeJob make_job) {
  const auto count = static_cast<double>(effort.count);
  auto leader = change_leader(where, connection);
  if (!leader) return fail(leader.error());
  const double empty = memory_bytes(leader->pid), empty_peak = peak_memory_bytes(leader->pid);
  const MonoTime began = BootClock::now();
  if (auto applied = apply_each(where, effort.count, make_job); !applied)
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

Result<bool> measure(const Surroundings& where, const Effort& effort, const std::string& name, MakeJob make_job) {
  auto connection = Connection::open(where.database);
  if (!connection) return fail(connection.error());
  if (auto applied = apply_tickers(where); !applied) return fail(applied.error());
  auto figures = measure_saved(where, **connection, effort, make_job);
  if (!figures) return fail(figures.error());
  const bool passed =
      figures->loaded_bytes <= kMostJobBytes && median(figures->takeovers_ms) <= kMostTakeoverMs;
  Line(name)
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

}  // namespace

Result<bool> saved_jobs(const Surroundings& where, const Effort& effort) {
  return measure(where, effort, "saved_jobs", daily_job);
}

Result<bool> mixed_jobs(const Surroundings& where, const Effort& effort) {
  if (auto applied = apply_calendars(where); !applied) return fail(applied.error());
  return measure(where, effort, "mixed_jobs", mixed_job);
}

}  // namespace rota::bench
