// A great many jobs that are due in one millisecond: until when all are recorded, and how late
// other jobs are meanwhile.
#include <fmt/format.h>

#include <thread>

#include "test/bench/figures.h"
#include "test/bench/job_sets.h"
#include "test/bench/rows.h"

namespace rota::bench {
namespace {

using master::store::Connection;

constexpr double kMostSeconds = 60, kMostOthersMs = 2000;
constexpr std::int64_t kOthers = 20;
constexpr std::int64_t kProbe = 2000;  // jobs by which the rest's time is estimated
constexpr std::chrono::minutes kDuePatience{10};
constexpr Millis kDueLook{200};

thrift::JobDefinition once_job(std::int64_t number, std::int64_t at_ms) {
  thrift::JobDefinition job = noop_job(fmt::format("bench-due-{:07}", number));
  job.rules.schedule.__set_kind("once");
  job.rules.schedule.__set_start_ms(at_ms);
  return job;
}

std::int64_t now_ms() { return to_ms(SystemClock().wall()); }

/// Applies jobs that will not fire meanwhile, and so tells how long `count` would take, in ms.
Result<std::int64_t> estimate_ms(const Surroundings& where, std::int64_t count) {
  const std::int64_t began = now_ms();
  auto applied = apply_each(where, kProbe, [&](std::int64_t i) {
    return once_job(1'000'000'000 + i, began + 30LL * 24 * 3'600'000);
  });
  if (!applied) return fail(applied.error());
  return (now_ms() - began) * count / kProbe;
}

/// All due at one moment that lies ahead when the last is applied; gives the moment.
Result<std::int64_t> apply_due(const Surroundings& where, std::int64_t count) {
  auto estimated = estimate_ms(where, count);
  if (!estimated) return estimated;
  const std::int64_t at_ms = now_ms() + *estimated * 2 + 5000;
  auto applied = apply_each(where, count, [&](std::int64_t i) { return once_job(i, at_ms); });
  if (!applied) return fail(applied.error());
  if (now_ms() < at_ms) return at_ms;
  return fail(ErrorCode::TimedOut,
              "applying the jobs took more than twice as long as was estimated");
}

/// When the last of them was recorded.
Result<std::int64_t> await_all(Connection& connection, std::int64_t at_ms, std::int64_t count) {
  const MonoTime give_up = BootClock::now() + kDuePatience;
  const std::string counting =
      fmt::format("SELECT COUNT(*) FROM run WHERE scheduled_ms = {}", at_ms);
  while (BootClock::now() < give_up) {
    auto there = ask_number(connection, counting);
    if (!there) return there;
    if (*there >= count) {
      return ask_number(
          connection,
          fmt::format("SELECT MAX(recorded_ms) FROM run WHERE scheduled_ms = {}", at_ms));
    }
    std::this_thread::sleep_for(kDueLook);
  }
  return fail(ErrorCode::TimedOut, "not all that was due is recorded after 10 min");
}

Result<std::vector<std::int64_t>> apply_others(const Surroundings& where) {
  const std::int64_t start_ms = now_ms();
  return apply_each(where, kOthers, [&](std::int64_t i) {
    return ticking_job(fmt::format("bench-other-{:02}", i), start_ms + i * 1000 / kOthers,
                       Millis{1000});
  });
}

/// The latest tick of these jobs in the span, in ms.
Result<std::int64_t> latest_of(Connection& connection, const std::vector<std::int64_t>& jobs,
                               std::int64_t from_ms, std::int64_t to_ms) {
  return ask_number(
      connection,
      fmt::format(
          "SELECT COALESCE(MAX(recorded_ms - tick_ms), 0) FROM run WHERE job_id IN ({}) AND "
          "tick_ms >= {} AND tick_ms <= {}",
          fmt::join(jobs, ","), from_ms, to_ms));
}

}  // namespace

Result<bool> due_at_once(const Surroundings& where, const Effort& effort) {
  auto connection = Connection::open(where.database);
  if (!connection) return fail(connection.error());
  auto others = apply_others(where);
  if (!others) return fail(others.error());
  auto at_ms = apply_due(where, effort.count);
  if (!at_ms) return fail(at_ms.error());
  std::this_thread::sleep_for(Millis{std::max<std::int64_t>(*at_ms - now_ms(), 0)});
  auto last_ms = await_all(**connection, *at_ms, effort.count);
  if (!last_ms) return fail(last_ms.error());
  auto quiet = latest_of(**connection, *others, *at_ms - 3000, *at_ms - 500);
  auto latest = latest_of(**connection, *others, *at_ms - 500, *last_ms);
  if (!quiet || !latest) return fail((!quiet ? quiet : latest).error());
  const double seconds = static_cast<double>(*last_ms - *at_ms) / 1000;
  const bool passed = seconds <= kMostSeconds && static_cast<double>(*latest) <= kMostOthersMs;
  Line("due_at_once")
      .add("due", static_cast<double>(effort.count))
      .add("all_recorded_s", seconds, 2)
      .add("recorded_per_s", static_cast<double>(effort.count) / std::max(seconds, 0.001))
      .add("other_jobs", kOthers)
      .add("others_latest_ms", static_cast<double>(*latest))
      .add("others_latest_before_ms", static_cast<double>(*quiet))
      .print_verdict(passed, "60s,2000ms");
  return passed;
}

}  // namespace rota::bench
