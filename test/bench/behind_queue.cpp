// A long queue of one-offs, and beside it first runs of other jobs: how many of the queue get a
// slot before each of them, counted in turns of all slots.
#include <fmt/format.h>

#include <thread>

#include "test/bench/figures.h"
#include "test/bench/job_sets.h"
#include "test/bench/rows.h"

namespace rota::bench {
namespace {

using master::store::Connection;
using master::store::Row;

constexpr std::size_t kBehindBatch = 500;
constexpr double kBehindMostTurns = 2;
constexpr Millis kBehindPause{50};
constexpr std::chrono::seconds kBehindPatience{60};

Result<std::int64_t> submit_flood(const Surroundings& where, std::int64_t count) {
  client::Cluster cluster(where.client());
  thrift::SubmitItem item;
  item.__set_definition(noop_job("bench-flood"));
  item.definition.work.__set_handler("sleep");
  item.__set_parameters({{"for_ms", "1000"}});
  std::int64_t last = 0;
  for (std::int64_t done = 0; done < count; done += static_cast<std::int64_t>(kBehindBatch)) {
    auto results = cluster.submit_many(std::vector<thrift::SubmitItem>(kBehindBatch, item));
    if (!results) return fail(results.error());
    for (const thrift::SubmitResult& result : *results) {
      if (result.__isset.error) return fail(ErrorCode::Internal, result.error.message);
      last = std::max(last, result.run);
    }
  }
  return last;
}

/// A first run of each of so many saved jobs, one after the other; gives their ids.
Result<std::vector<std::int64_t>> start_firsts(const Surroundings& where, int count) {
  const std::int64_t stamp = to_ms(SystemClock().wall());
  const auto name = [&](std::int64_t i) { return fmt::format("bench-first-{}-{}", stamp, i); };
  auto applied = apply_each(where, count, [&](std::int64_t i) { return noop_job(name(i)); });
  if (!applied) return fail(applied.error());
  client::Cluster cluster(where.client());
  std::vector<std::int64_t> runs;
  for (int i = 0; i < count; ++i) {
    auto started = cluster.run_now("default", name(i), {}, "");
    if (!started) return fail(started.error());
    runs.push_back(started->run);
    std::this_thread::sleep_for(kBehindPause);
  }
  return runs;
}

Result<std::int64_t> count_slots(const Surroundings& where) {
  client::Cluster cluster(where.client());
  auto workers = cluster.list_workers();
  if (!workers) return fail(workers.error());
  std::int64_t slots = 0;
  for (const thrift::WorkerInfo& worker : *workers) slots += worker.slots;
  return slots;
}

struct FirstWaits {
  std::vector<double> ms, before;  ///< how many of the queue got a slot meanwhile
};

Result<void> read_wait(Connection& connection, std::int64_t run, FirstWaits& out) {
  std::int64_t from = 0, to = 0;
  auto read = connection.stream(
      fmt::format("SELECT recorded_ms, dispatched_ms FROM run WHERE run_id = {}", run),
      [&](Row& row) -> Result<void> {
        from = row.integer();
        to = row.maybe_integer().value_or(0);
        return {};
      });
  if (!read) return fail(read.error());
  if (to == 0) return fail(ErrorCode::Internal, fmt::format("run {} has ended without an attempt", run));
  auto before = ask_number(
      connection, fmt::format("SELECT COUNT(*) FROM run r LEFT JOIN run_open o ON o.run_id = r.run_id WHERE "
                              "r.kind = 'one_off' AND COALESCE(o.dispatched_ms, r.dispatched_ms) > {} AND "
                              "COALESCE(o.dispatched_ms, r.dispatched_ms) < {}", from, to));
  if (!before) return fail(before.error());
  out.ms.push_back(static_cast<double>(to - from));
  out.before.push_back(static_cast<double>(*before));
  return {};
}

}  // namespace

Result<bool> behind_queue(const Surroundings& where, const Effort& effort) {
  auto connection = Connection::open(where.database);
  if (!connection) return fail(connection.error());
  auto last = submit_flood(where, effort.count);
  if (!last) return fail(last.error());
  auto slots = count_slots(where);
  if (!slots) return fail(slots.error());
  auto runs = start_firsts(where, effort.samples);
  if (!runs) return fail(runs.error());
  for (const std::int64_t run : *runs) {
    const std::string end = fmt::format("SELECT COALESCE(ended_ms, 0) FROM run WHERE run_id = {}", run);
    auto ended = await_number(**connection, end, 0, kBehindPatience);
    if (!ended) return fail(ended.error());
  }
  auto left = ask_number(**connection,
                         "SELECT COUNT(*) FROM run r JOIN run_open o ON o.run_id = r.run_id WHERE "
                         "r.kind = 'one_off' AND o.dispatched_ms IS NULL AND r.state IN ('waiting', 'queued')");
  if (!left) return fail(left.error());
  FirstWaits waits;
  for (const std::int64_t run : *runs) {
    if (auto read = read_wait(**connection, run, waits); !read) return fail(read.error());
  }
  const auto all_slots = static_cast<double>(*slots);
  const double worst = percentile(waits.before, 1) / all_slots;
  const bool passed = *left > 0 && worst <= kBehindMostTurns;
  Line("behind_queue")
      .add("queued", static_cast<double>(effort.count))
      .add("still_queued", static_cast<double>(*left))
      .add("slots", all_slots)
      .add("first_runs", static_cast<double>(runs->size()))
      .add("wait_p50_ms", median(waits.ms))
      .add("wait_worst_ms", percentile(waits.ms, 1))
      .add("before_p50", median(waits.before))
      .add("before_worst", percentile(waits.before, 1))
      .add("turns_worst", worst, 3)
      .print_verdict(passed, "2turns");
  return passed;
}

}  // namespace rota::bench
