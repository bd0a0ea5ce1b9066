// Half of a great many workers go and come back at once, beside jobs that tick all the time: how many are let
// in within a second, and how late the ticks are.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <thread>

#include "test/bench/figures.h"
#include "test/bench/job_sets.h"
#include "test/bench/rows.h"
#include "test/bench/stand_in_process.h"

namespace rota::bench {
namespace {

using master::store::Connection;

constexpr const char* kBackPool = "bench-return";
constexpr std::int64_t kBackJobs = 100, kBackSlotsEach = 4;
constexpr std::int64_t kBackTickingMs = 120'000;
constexpr double kBackMostLateMs = 1000;
constexpr double kBackMostShare = 0.4;  // of those that come back, let in within one second
constexpr Millis kBackLook{50};
constexpr std::chrono::seconds kBackSecond{1}, kBackPatience{60}, kBackAfter{3};

thrift::JobDefinition back_job(std::int64_t number, std::int64_t start_ms) {
  auto job = ticking_job(fmt::format("bench-return-{}-{:03}", start_ms, number),
                         start_ms + number * 1000 / kBackJobs, Millis{1000});
  job.rules.schedule.__set_end_ms(start_ms + kBackTickingMs);
  job.rules.__set_pool(kBackPool);
  return job;
}

struct BackFigures {
  double seconds = 0;        ///< from the start of their process until the last is let in
  double most_in_a_second = 0;
};

/// Looks on until all are online.
Result<BackFigures> watch_return(const Surroundings& where, std::int64_t before, std::int64_t all) {
  client::Cluster cluster(where.client());
  const MonoTime began = BootClock::now();
  std::deque<std::pair<MonoTime, std::int64_t>> looks{{began, before}};  // of the last second
  BackFigures out;
  while (BootClock::now() < began + kBackPatience) {
    const auto online = count_online(cluster, kBackPool);
    if (!online) return fail(online.error());
    const MonoTime now = BootClock::now();
    looks.emplace_back(now, *online);
    while (looks.front().first < now - kBackSecond) looks.pop_front();
    out.most_in_a_second =
        std::max(out.most_in_a_second, static_cast<double>(*online - looks.front().second));
    out.seconds = std::chrono::duration<double>(now - began).count();
    if (*online == all) return out;
    std::this_thread::sleep_for(kBackLook);
  }
  return fail(ErrorCode::TimedOut, "not all stand-ins are back after 60 s");
}

/// The latest of the ticks that fell between, in ms: until it was recorded, or given to a worker.
Result<double> latest_back_tick(Connection& connection, std::string_view what, std::int64_t from_ms,
                                std::int64_t to_ms) {
  auto latest = ask_number(
      connection, fmt::format("SELECT COALESCE(MAX(GREATEST({} - tick_ms, 0)), -1) FROM run WHERE "
                              "tick_ms >= {} AND tick_ms < {}", what, from_ms, to_ms));
  if (!latest) return fail(latest.error());
  return static_cast<double>(*latest);
}

}  // namespace

Result<bool> returning_workers(const Surroundings& where, const Effort& effort) {
  const std::int64_t half = effort.count / 2;
  if (half < 2) return fail(ErrorCode::InvalidArgument, "--count: at least 4 workers");
  auto connection = Connection::open(where.database);
  if (!connection) return fail(connection.error());
  StandInProcess staying, returning;
  const auto come_back = [&] { return returning.start(where, kBackPool, half, kBackSlotsEach, "back"); };
  auto stays = staying.start(where, kBackPool, half, kBackSlotsEach);
  auto comes = come_back();
  if (!stays || !comes) return fail(!stays ? stays.error() : comes.error());
  if (auto online = await_online(where, kBackPool, 2 * half); !online) return fail(online.error());
  const std::int64_t start_ms = to_ms(SystemClock().wall()) + 2000;
  auto applied = apply_each(where, kBackJobs, [&](std::int64_t i) { return back_job(i, start_ms); });
  if (!applied) return fail(applied.error());
  std::this_thread::sleep_for(kBackAfter);
  const std::int64_t from_ms = to_ms(SystemClock().wall());
  returning.stop();
  if (auto gone = await_online(where, kBackPool, half); !gone) return fail(gone.error());
  if (auto again = come_back(); !again) return fail(again.error());
  const auto back = watch_return(where, half, 2 * half);
  if (!back) return fail(back.error());
  std::this_thread::sleep_for(kBackAfter);
  const std::int64_t to = to_ms(SystemClock().wall()) - 1500;  // an attempt that is sent again takes a moment
  const auto recorded = latest_back_tick(**connection, "recorded_ms", from_ms, to);
  const auto given = latest_back_tick(**connection, "IF(attempt > 1, 0, COALESCE(dispatched_ms, 9999999999999))", from_ms, to);
  // Attempts on workers that have just gone are lost, and sent again after the fence: that is no late tick.
  const auto ticks = ask_number(**connection, fmt::format("SELECT COUNT(*) FROM run WHERE tick_ms >= {} AND "
                                                          "tick_ms < {}", from_ms, to));
  if (!recorded || !given || !ticks) return fail(ErrorCode::Internal, "the ticks can not be read");
  const bool passed = *recorded >= 0 && *recorded <= kBackMostLateMs && *given <= kBackMostLateMs &&
                      back->most_in_a_second <= kBackMostShare * static_cast<double>(half);
  Line("returning_workers")
      .add("workers", static_cast<double>(2 * half))
      .add("back", static_cast<double>(half))
      .add("all_back_s", back->seconds, 1)
      .add("most_in_a_second", back->most_in_a_second)
      .add("ticks", static_cast<double>(*ticks))
      .add("latest_recorded_ms", *recorded)
      .add("latest_given_ms", *given)
      .print_verdict(passed, "1000ms,0.4");
  return passed;
}

}  // namespace rota::bench
