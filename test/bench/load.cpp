#include "test/bench/load.h"

#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <thread>

#include "master/store/mysql/run_rows.h"
#include "test/bench/process_times.h"
#include "test/bench/rows.h"

namespace rota::bench {
namespace {

using master::store::Connection;

constexpr Millis kLook{5};
constexpr Millis kPatience{120'000};

double seconds_between(MonoTime from, MonoTime to) {
  return std::chrono::duration<double>(to - from).count();
}

double ms_since(MonoTime from) { return seconds_between(from, BootClock::now()) * 1000; }

/// What the submitters have done together.
struct Submitted {
  std::mutex mutex;
  std::int64_t count = 0;
  std::vector<double> call_ms;
  std::optional<Error> trouble;
};

Result<void> submit_batch(client::Cluster& cluster, const Load& load, const thrift::SubmitItem& item) {
  if (load.batch == 1) {
    auto result = cluster.submit(item);
    return result ? Result<void>() : fail(result.error());
  }
  auto results = cluster.submit_many(std::vector<thrift::SubmitItem>(load.batch, item));
  if (!results) return fail(results.error());
  for (const thrift::SubmitResult& result : *results) {
    if (result.__isset.error) return fail(ErrorCode::Internal, result.error.message);
  }
  return {};
}

/// One submitter's share.
void submit_until(const Surroundings& where, const Load& load, MonoTime end, Submitted& all) {
  client::Cluster cluster(where.client());
  thrift::SubmitItem item;
  item.__set_definition(load.definition);
  std::vector<double> call_ms;
  Result<void> done;
  while (done && BootClock::now() < end && call_ms.size() < load.calls_each) {
    const MonoTime began = BootClock::now();
    done = submit_batch(cluster, load, item);
    if (done) call_ms.push_back(ms_since(began));
  }
  std::scoped_lock lock(all.mutex);
  all.count += static_cast<std::int64_t>(call_ms.size() * load.batch);
  all.call_ms.insert(all.call_ms.end(), call_ms.begin(), call_ms.end());
  if (!done) all.trouble = done.error();
}

Result<void> submit_all(const Surroundings& where, const Load& load, Submitted& all) {
  const MonoTime end =
      BootClock::now() + std::chrono::duration_cast<Micros>(std::chrono::duration<double>(load.seconds));
  {
    std::vector<std::jthread> submitters;
    for (int i = 0; i < load.submitters; ++i) {
      submitters.emplace_back([&] { submit_until(where, load, end, all); });
    }
  }
  if (all.trouble) return fail(*all.trouble);
  return {};
}

/// The earliest moment at which the store was seen without an unfinished run.
Result<MonoTime> await_recorded(Connection& connection) {
  const MonoTime give_up = BootClock::now() + kPatience;
  while (BootClock::now() < give_up) {
    // One statement: a refused run goes back to waiting, and must not slip through between two looks.
    auto open = ask_number(
        connection, fmt::format("SELECT COUNT(*) FROM (SELECT r.run_id FROM run_open o STRAIGHT_JOIN run r "
                                "ON r.run_id = o.run_id WHERE r.state IN ({}) "
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
  Submitted submitted;
  if (auto done = submit_all(where, load, submitted); !done) return fail(done.error());
  auto ended = await_recorded(**connection);
  if (!ended) return fail(ended.error());
  Rate rate{submitted.count, seconds_between(began, *ended), cpu.seconds(), cpu.seconds_by_program(),
            std::move(submitted.call_ms)};
  auto succeeded = ask_number(
      **connection,
      fmt::format("SELECT COUNT(*) FROM run WHERE run_id > {} AND kind = 'one_off' AND "
                  "state = 'succeeded'", *before));
  if (!succeeded) return fail(succeeded.error());
  if (*succeeded == rate.count) return rate;
  return fail(ErrorCode::Internal,
              fmt::format("{} runs were submitted, {} succeeded", rate.count, *succeeded));
}

}  // namespace rota::bench
