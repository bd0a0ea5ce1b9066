// 1,000 saved jobs with a tick each second, a millisecond apart: how late their ticks are recorded.
// Beside it a bare thread that wakes 1,000 times a second.
#include <fmt/format.h>

#include <thread>

#include "test/bench/figures.h"
#include "test/bench/job_sets.h"
#include "test/bench/surroundings.h"

namespace rota::bench {
namespace {

using master::store::Connection;
using master::store::Row;

constexpr int kJobs = 1000;
constexpr double kAimMs = 10;

thrift::JobDefinition job_of(std::int64_t number, std::int64_t start_ms, std::int64_t end_ms) {
  auto job = ticking_job(fmt::format("bench-tick-{}-{:04}", start_ms, number),
                         start_ms + number, Millis{1000});
  job.rules.schedule.__set_end_ms(end_ms);
  return job;
}

/// How late each tick of the time span was recorded, and its handler began.
struct Lateness {
  std::vector<double> recorded, started;
};

Result<Lateness> read_lateness(const Surroundings& where, std::int64_t start_ms,
                               std::int64_t end_ms) {
  auto connection = Connection::open(where.database);
  if (!connection) return fail(connection.error());
  Lateness out;
  auto read = (*connection)->stream(
      fmt::format("SELECT recorded_ms - tick_ms, outcome_started_ms - tick_ms FROM run WHERE "
                  "tick_ms >= {} AND tick_ms < {}", start_ms, end_ms),
      [&](Row& row) -> Result<void> {
        out.recorded.push_back(static_cast<double>(row.integer()));
        if (const auto started = row.maybe_integer()) {
          out.started.push_back(static_cast<double>(*started));
        }
        return {};
      });
  if (!read) return fail(read.error());
  return out;
}

/// How late a thread of this program wakes for moments a millisecond apart, in ms.
std::vector<double> bare_lateness(int count) {
  std::vector<double> out;
  MonoTime next = BootClock::now();
  for (int i = 0; i < count; ++i) {
    next += Millis{1};
    const Micros left = next - BootClock::now();
    if (left > Micros{0}) std::this_thread::sleep_for(left);
    out.push_back(std::chrono::duration<double, std::milli>(BootClock::now() - next).count());
  }
  return out;
}

void wait_until(std::int64_t wall_ms) {
  const Millis left{wall_ms - to_ms(SystemClock().wall())};
  if (left > Millis{0}) std::this_thread::sleep_for(left);
}

}  // namespace

Result<bool> tick_lateness(const Surroundings& where, const Effort& effort) {
  const auto seconds = static_cast<std::int64_t>(std::max(5.0, effort.seconds));
  const std::int64_t start_ms = to_ms(SystemClock().wall()) + 5000;
  const std::int64_t end_ms = start_ms + seconds * 1000;
  const auto applied = apply_each(
      where, kJobs, [&](std::int64_t number) { return job_of(number, start_ms, end_ms - 1); });
  if (!applied) return fail(applied.error());
  wait_until(start_ms);
  const std::vector<double> bare = bare_lateness(2000);
  wait_until(end_ms + 1500);
  auto late = read_lateness(where, start_ms, end_ms);
  if (!late) return fail(late.error());
  if (late->recorded.size() != static_cast<std::size_t>(seconds * kJobs)) {
    return fail(ErrorCode::Internal, fmt::format("{} ticks were planned, {} are recorded",
                                                 seconds * kJobs, late->recorded.size()));
  }
  const double p99 = percentile(late->recorded, 0.99);
  Line("tick_lateness")
      .add("fires_per_s", kJobs)
      .add("ticks", static_cast<double>(late->recorded.size()))
      .add("recorded_p50_ms", median(late->recorded))
      .add("recorded_p99_ms", p99)
      .add("started_p99_ms", percentile(late->started, 0.99))
      .add("bare_thread_p99_ms", percentile(bare, 0.99), 1)
      .print_verdict(p99 <= kAimMs, "p99<=10ms");
  return p99 <= kAimMs;
}

}  // namespace rota::bench
