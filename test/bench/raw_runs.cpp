#include "test/bench/raw_runs.h"

#include <fmt/format.h>

#include "common/base/random.h"
#include "master/store/mysql/multi_row.h"
#include "master/store/mysql/run_rows.h"
#include "client/cluster.h"
#include "test/bench/process_times.h"

namespace rota::bench {
namespace {

using master::store::Binder;
using master::store::Connection;
using master::store::Row;

constexpr std::size_t kBatch = 500;

Result<std::unique_ptr<Connection>> open_copy(const Surroundings& where) {
  auto connection = Connection::open(where.database);
  if (!connection) return connection;
  const std::string name = where.database.database;
  for (const std::string& sql :
       {std::string("DROP DATABASE IF EXISTS rota_bench"), std::string("CREATE DATABASE rota_bench"),
        fmt::format("CREATE TABLE rota_bench.run LIKE {}.run", name)}) {
    if (auto done = (*connection)->run_text(sql); !done) return fail(done.error());
  }
  auto options = where.database;
  options.database = "rota_bench";
  return Connection::open(options);
}

/// Rows as the leader writes them for a one-off run that found a free slot.
std::vector<model::Run> new_runs(std::int64_t first) {
  std::vector<model::Run> runs(kBatch);
  for (model::Run& run : runs) {
    run.id = RunId{first++};
    run.job = JobId{4'711'081'500'000'000'000};
    run.version = 1;
    run.kind = model::RunKind::OneOff;
    run.scheduled = run.recorded = SystemClock().wall();
    run.request_key = client::fresh_request_key();
    run.request_hash = "1:" + random_hex(16);
    run.progress.state = model::RunState::Dispatched;
    run.progress.attempt = 1;
    run.progress.worker = {"worker-1", "0123456789abcdef"};
    run.progress.epoch = Epoch{1};
    run.progress.dispatched = run.recorded;
  }
  return runs;
}

void end_all(std::vector<model::Run>& runs) {
  for (model::Run& run : runs) {
    model::RunProgress& progress = run.progress;
    progress.state = model::RunState::Succeeded;
    progress.outcome.state = model::RunState::Succeeded;
    progress.outcome.started = progress.outcome.ended = SystemClock().wall();
    progress.started = progress.ended = progress.outcome.ended;
  }
}

Result<void> in_transaction(Connection& connection, const master::store::MultiRow& statement,
                            const master::store::RowSource& rows) {
  if (auto begun = connection.begin(); !begun) return begun;
  if (auto written = write_rows(connection, statement, rows); !written) {
    return fail(written.error());
  }
  return connection.end_transaction();
}

Result<void> live_through(Connection& connection, std::vector<model::Run> runs) {
  auto inserted = in_transaction(
      connection, master::store::kInsertYoungRuns,
      {runs.size(),
       [&](Binder& binder, std::size_t i) { bind_young_run(binder, runs[i], nullptr); }});
  if (!inserted) return inserted;
  end_all(runs);
  return in_transaction(connection, master::store::kUpdateSucceededRuns,
                        {runs.size(), [&](Binder& binder, std::size_t i) {
                           bind_success(binder, runs[i].id, runs[i].progress);
                         }});
}

}  // namespace

Result<Rate> raw_lives(const Surroundings& where, double seconds) {
  auto connection = open_copy(where);
  if (!connection) return fail(connection.error());
  Rate rate;
  const CpuMeter cpu(where);
  const MonoTime began = BootClock::now();
  while (rate.seconds < seconds) {
    auto lived = live_through(**connection, new_runs(1 + rate.count));
    if (!lived) return fail(lived.error());
    rate.count += kBatch;
    rate.seconds = std::chrono::duration<double>(BootClock::now() - began).count();
  }
  rate.cpu_seconds = cpu.seconds();
  (void)(*connection)->run_text("DROP DATABASE rota_bench");
  return rate;
}

}  // namespace rota::bench
