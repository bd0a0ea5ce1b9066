// No-op runs a second on a great many light workers, beside the same on two of them with as many
// slots in all; and what an idle worker costs the leader.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "test/bench/job_sets.h"
#include "test/bench/leader.h"
#include "test/bench/load.h"
#include "test/bench/process_times.h"
#include "test/bench/stand_in_process.h"

namespace rota::bench {
namespace {

constexpr double kWorkersFloor = 0.8, kMostIdleUs = 50;
constexpr std::int64_t kSlotsEach = 4;
constexpr std::chrono::seconds kIdleSpan{5};

struct Measured {
  Rate rate;
  double stand_ins_cpu_seconds = 0;
  double idle_leader_us = 0;  ///< of a second without runs, all workers together

  double stand_ins_us_each() const {
    return stand_ins_cpu_seconds * 1e6 / static_cast<double>(rate.count);
  }
  /// As if the stand-ins' CPU had cost no time: they stand for other hosts.
  double without_stand_ins_per_s() const {
    const double cores = std::max(1U, std::thread::hardware_concurrency());
    return static_cast<double>(rate.count) /
           std::max(rate.seconds - stand_ins_cpu_seconds / cores, 0.001);
  }
};

/// The leader's CPU in a second without runs, in microseconds.
Result<double> idle_leader_us(const Surroundings& where) {
  auto connection = master::store::Connection::open(where.database);
  if (!connection) return fail(connection.error());
  const auto leader = find_leader(where, **connection);
  if (!leader) return fail(leader.error());
  const double before = own_cpu_seconds(leader->pid);
  std::this_thread::sleep_for(kIdleSpan);
  return (own_cpu_seconds(leader->pid) - before) * 1e6 / static_cast<double>(kIdleSpan.count());
}

Result<Measured> measure_workers(const Surroundings& where, const Effort& effort,
                                 std::int64_t count, std::int64_t slots) {
  const std::string pool = fmt::format("bench-{}", count);
  StandInProcess process;
  if (auto started = process.start(where, pool, count, slots); !started)
    return fail(started.error());
  if (auto online = await_online(where, pool, count); !online) return fail(online.error());
  Load load{noop_job("bench-" + pool), effort.seconds};
  load.definition.rules.__set_pool(pool);
  Measured out;
  auto idle = idle_leader_us(where);
  if (!idle) return fail(idle.error());
  out.idle_leader_us = *idle;
  const double before = process.cpu_seconds();
  auto rate = run_load(where, load);
  if (!rate) return fail(rate.error());
  out.rate = *rate;
  out.stand_ins_cpu_seconds = process.cpu_seconds() - before;
  return out;
}

struct WorkerFigures {
  std::vector<double> many, two, ratios, bare_ratios, idle_us, many_cpu, two_cpu, many_stand_ins,
      two_stand_ins;

  void add(const Measured& with_many, const Measured& with_two, std::int64_t count) {
    many.push_back(with_many.without_stand_ins_per_s());
    two.push_back(with_two.without_stand_ins_per_s());
    ratios.push_back(many.back() / two.back());
    bare_ratios.push_back(with_many.rate.per_second() / with_two.rate.per_second());
    idle_us.push_back((with_many.idle_leader_us - with_two.idle_leader_us) /
                      static_cast<double>(count - 2));
    many_cpu.push_back(with_many.rate.cpu_us_each());
    two_cpu.push_back(with_two.rate.cpu_us_each());
    many_stand_ins.push_back(with_many.stand_ins_us_each());
    two_stand_ins.push_back(with_two.stand_ins_us_each());
  }
};

bool print_workers(const WorkerFigures& figures, const Effort& effort) {
  const bool passed = lower_quartile(figures.ratios) >= kWorkersFloor &&
                      upper_quartile(figures.idle_us) <= kMostIdleUs;
  Line("many_workers")
      .add("workers", static_cast<double>(effort.count))
      .add("slots_each", kSlotsEach)
      .add("pairs", effort.pairs)
      .add("batch", 500)
      .add("runs_per_s", median(figures.many))
      .add("with_two_per_s", median(figures.two))
      .add_spread("ratio", figures.ratios, 3)
      .add("ratio_with_stand_ins", median(figures.bare_ratios), 3)
      .add("cpu_us_per_run", median(figures.many_cpu))
      .add("with_two_cpu_us", median(figures.two_cpu))
      .add("stand_ins_cpu_us", median(figures.many_stand_ins))
      .add("with_two_stand_ins_cpu_us", median(figures.two_stand_ins))
      .add_spread("idle_leader_us_per_worker_s", figures.idle_us)
      .print_verdict(passed, "0.8,50us");
  return passed;
}

}  // namespace

Result<bool> many_workers(const Surroundings& where, const Effort& effort) {
  if (effort.count < 3) return fail(ErrorCode::InvalidArgument, "--count: at least 3 workers");
  WorkerFigures figures;
  for (int i = 0; i < effort.pairs; ++i) {
    auto many = measure_workers(where, effort, effort.count, kSlotsEach);
    if (!many) return fail(many.error());
    auto two = measure_workers(where, effort, 2, kSlotsEach * effort.count / 2);
    if (!two) return fail(two.error());
    figures.add(*many, *two, effort.count);
  }
  return print_workers(figures, effort);
}

}  // namespace rota::bench
