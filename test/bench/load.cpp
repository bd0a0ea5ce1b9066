#include "test/bench/load.h"

#include <fmt/format.h>

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "master/store/mysql/run_rows.h"
#include "test/bench/process_times.h"

namespace rota::bench {
namespace {

using master::store::Connection;
using master::store::Row;

constexpr Millis kLook{5};
constexpr Millis kPatience{120'000};

double seconds_between(MonoTime from, MonoTime to) {
  return std::chrono::duration<double>(to - from).count();
}

Result<std::int64_t> ask_number(Connection& connection, const std::string& sql) {
  std::int64_t found = 0;
  auto asked = connection.stream(sql, [&](Row& row) -> Result<void> {
    found = row.integer();
    return {};
  });
  if (!asked) return fail(asked.error());
  return found;
}

/// One submitter's share.
Result<std::int64_t> submit_until(const Surroundings& where, const Load& load, MonoTime end) {
  client::Cluster cluster(where.client());
  thrift::SubmitItem item;
  item.__set_definition(load.definition);
  std::int64_t count = 0;
  while (BootClock::now() < end) {
    auto results = cluster.submit_many(std::vector<thrift::SubmitItem>(load.batch, item));
    if (!results) return fail(results.error());
    for (const thrift::SubmitResult& result : *results) {
      if (result.__isset.error) return fail(ErrorCode::Internal, result.error.message);
    }
    count += static_cast<std::int64_t>(results->size());
  }
  return count;
}

Result<std::int64_t> submit_all(const Surroundings& where, const Load& load) {
  const MonoTime end =
      BootClock::now() + std::chrono::duration_cast<Micros>(std::chrono::duration<double>(load.seconds));
  std::mutex mutex;
  std::int64_t sum = 0;
  std::optional<Error> trouble;
  {
    std::vector<std::jthread> submitters;
    for (int i = 0; i < load.submitters; ++i) {
      submitters.emplace_back([&] {
        auto count = submit_until(where, load, end);
        std::scoped_lock lock(mutex);
        if (count) sum += *count;
        if (!count) trouble = count.error();
      });
    }
  }
  if (trouble) return fail(*trouble);
  return sum;
}

/// The earliest moment at which the store was seen without an unfinished run.
Result<MonoTime> await_recorded(Connection& connection) {
  const MonoTime give_up = BootClock::now() + kPatience;
  while (BootClock::now() < give_up) {
    // One statement: a refused run goes back to waiting, and must not slip through between two looks.
    auto open = ask_number(
        connection, fmt::format("SELECT COUNT(*) FROM (SELECT run_id FROM run WHERE state IN ({}) "
                                "LIMIT 1) AS one", master::store::kUnfinishedStates));
    if (!open) return fail(open.error());
    if (*open == 0) return BootClock::now();
    std::this_thread::sleep_for(kLook);
  }
  return fail(ErrorCode::TimedOut, "runs are unfinished 120 s after the last submit");
}

}  // namespace

Result<Rate> run_load(const Surroundings& where, const Load& load) {
  auto connection = Connection::open(where.database);
  if (!connection) return fail(connection.error());
  auto before = ask_number(**connection, "SELECT COALESCE(MAX(run_id), 0) FROM run");
  if (!before) return fail(before.error());
  const CpuMeter cpu(where);
  const MonoTime began = BootClock::now();
  auto submitted = submit_all(where, load);
  if (!submitted) return fail(submitted.error());
  auto ended = await_recorded(**connection);
  if (!ended) return fail(ended.error());
  const double cpu_seconds = cpu.seconds();
  auto succeeded = ask_number(
      **connection,
      fmt::format("SELECT COUNT(*) FROM run WHERE run_id > {} AND state = 'succeeded'", *before));
  if (!succeeded) return fail(succeeded.error());
  if (*succeeded != *submitted) {
    return fail(ErrorCode::Internal, fmt::format("{} runs were submitted, {} succeeded", *submitted,
                                                 *succeeded));
  }
  return Rate{*succeeded, seconds_between(began, *ended), cpu_seconds};
}

}  // namespace rota::bench
