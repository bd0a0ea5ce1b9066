// What a firing costs, and how many rows a second go through apply. Figures are printed.
#include <doctest/doctest.h>

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <sstream>

#include "common/base/file.h"
#include "master/upkeep/log_retention.h"
#include "master/upkeep/run_retention.h"
#include "master/store/logs/log_rules.h"
#include "master/store/mysql/mysql_history.h"
#include "master/store/logs/mysql_log_store.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/mysql_retention.h"
#include "master/store/mysql/mysql_store.h"
#include "test/integration/store/fixture.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

constexpr int kBatch = 500;
constexpr int kBatches = 20;

/// Rows of this table that were written so far, as the server counts them.
std::int64_t rows_changed(const Fixture& fixture, const std::string& table) {
  return fixture.number(fmt::format(
      "SELECT COALESCE(SUM(ROWS_CHANGED), 0) FROM information_schema.TABLE_STATISTICS "
      "WHERE TABLE_SCHEMA = '{}' AND TABLE_NAME = '{}'",
      fixture.options.database, table));
}

std::int64_t rows_changed(const Fixture& fixture) {
  return fixture.number(fmt::format(
      "SELECT COALESCE(SUM(ROWS_CHANGED), 0) FROM information_schema.TABLE_STATISTICS "
      "WHERE TABLE_SCHEMA = '{}'",
      fixture.options.database));
}

std::int64_t status(const Fixture& fixture, const std::string& name) {
  return fixture.number(fmt::format(
      "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = '{}'", name));
}

/// Processor time that the server has used.
double server_cpu_us(const Fixture& fixture) {
  const auto text = read_file("/proc/" + std::to_string(fixture.server.pid()) + "/stat");
  REQUIRE(text.has_value());
  std::istringstream fields(text->substr(text->rfind(')') + 2));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) * 1e6 / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double own_cpu_us() { return static_cast<double>(std::clock()) * 1e6 / CLOCKS_PER_SEC; }

double rows_per_second(MysqlStore& store, const std::vector<core::Changes>& batches) {
  const MonoTime start = BootClock::now();
  for (const auto& batch : batches) {
    const auto result = store.apply(Epoch{1}, batch);
    REQUIRE_MESSAGE(result.outcome == ApplyOutcome::Applied, result.detail);
  }
  const double seconds = static_cast<double>((BootClock::now() - start).count()) / 1e6;
  return kBatch * static_cast<double>(batches.size()) / seconds;
}

}  // namespace

TEST_CASE("cost: a plain firing is one inserted row, one updated row, and one in the list of open ones") {
  const Fixture fixture;
  REQUIRE(fixture.server.sql("SET GLOBAL userstat = 1"));
  MysqlStore store(fixture.options);
  REQUIRE(store.apply(Epoch{1}, {}).outcome == ApplyOutcome::Applied);
  auto born = new_runs(100, 1);
  born.watermark.reset();
  const auto writes = [&] { return status(fixture, "Com_insert") + status(fixture, "Com_delete"); };
  const auto prepared_before = status(fixture, "Com_stmt_execute");
  const auto writes_before = writes();
  const auto all_before = rows_changed(fixture);
  REQUIRE(store.apply(Epoch{1}, born).outcome == ApplyOutcome::Applied);
  const auto writes_between = writes();
  const auto between = rows_changed(fixture, "run");
  REQUIRE(store.apply(Epoch{1}, final_updates(born)).outcome == ApplyOutcome::Applied);
  const auto after = rows_changed(fixture, "run");
  CHECK(between == 1);
  CHECK(after == 2);
  CHECK(rows_changed(fixture, "run_open") == 2);          // put in, and out
  CHECK(rows_changed(fixture) - all_before == 4);         // nothing in any other table
  CHECK(writes_between - writes_before == 2);             // a statement for each of these tables
  CHECK(writes() - writes_between == 2);
  CHECK(status(fixture, "Com_stmt_execute") == prepared_before);  // all of a batch is in its text
  CHECK(fixture.number("SELECT COUNT(*) FROM run") == 1);
  MESSAGE("figure: plain_firing rows_inserted=", between, " rows_updated=", after - between);
}

TEST_CASE("cost: rows a second through apply, in batches of 500") {
  const Fixture fixture;
  MysqlStore store(fixture.options);
  std::vector<core::Changes> births, ends;
  for (int i = 0; i < kBatches; ++i) {
    births.push_back(new_runs(1'000'000 + i * kBatch, kBatch));
    ends.push_back(final_updates(births.back()));
  }
  REQUIRE(store.apply(Epoch{1}, new_runs(1, kBatch)).outcome == ApplyOutcome::Applied);  // prepares
  const double own = own_cpu_us(), server = server_cpu_us(fixture);
  const double inserted = rows_per_second(store, births);
  const double updated = rows_per_second(store, ends);
  // Processor time tells the cost also on a machine that is busy with other things.
  constexpr double kRows = 2.0 * kBatch * kBatches;
  MESSAGE("figure: apply_cpu_us_per_row ours=", (own_cpu_us() - own) / kRows,
          " servers=", (server_cpu_us(fixture) - server) / kRows);
  MESSAGE("figure: apply_batches_of_500 inserted_rows_per_s=", static_cast<std::int64_t>(inserted),
          " final_updates_per_s=", static_cast<std::int64_t>(updated));
  CHECK(fixture.number("SELECT COUNT(*) FROM run WHERE state = 'succeeded'") == kBatch * kBatches);
}

TEST_CASE("cost: batches of one row a second") {
  const Fixture fixture;
  MysqlStore store(fixture.options);
  REQUIRE(store.apply(Epoch{1}, new_runs(1, 1)).outcome == ApplyOutcome::Applied);
  constexpr int kCount = 200;
  const MonoTime start = BootClock::now();
  for (int i = 0; i < kCount; ++i) {
    REQUIRE(store.apply(Epoch{1}, new_runs(100 + i, 1)).outcome == ApplyOutcome::Applied);
  }
  MESSAGE("figure: apply_single_row us=", (BootClock::now() - start).count() / kCount);
}

TEST_CASE("cost: loading 100,000 jobs at a takeover") {
  const Fixture fixture;
  MysqlStore store(fixture.options);
  core::Changes one;
  model::Job job;
  job.id = JobId{1};
  job.name = "job";
  job.version = 1;
  model::JobDefinition definition;
  definition.name = "job";
  definition.rules.schedule.kind = model::ScheduleKind::Cron;
  definition.rules.schedule.cron = "*/5 * * * *";
  definition.work.argv = {"/bin/true"};
  one.jobs = {job};
  one.versions.resize(1);
  one.versions[0].job = job.id;
  one.versions[0].version = 1;
  one.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
  REQUIRE(store.apply(Epoch{1}, one).outcome == ApplyOutcome::Applied);
  const auto filled = fixture.server.sql(
      "INSERT INTO job (job_id, namespace, name, saved_name, version, state, one_off, state_by, state_why, "
      "created_ms, changed_ms) SELECT seq, namespace, CONCAT(name, seq), CONCAT(name, seq), version, state, "
      "one_off, state_by, state_why, created_ms, changed_ms FROM job, seq_2_to_100000;"
      "INSERT INTO job_version SELECT seq, version, valid_from_ms, valid_to_ms, anchor_ms, enabled, "
      "principal, definition_hash, rules, definition, content_hash FROM job_version, seq_2_to_100000;",
      fixture.options.database);
  REQUIRE_MESSAGE(filled.has_value(), (filled ? "" : filled.error().message));
  MysqlOffice office(fixture.options, utc_only());
  const MonoTime start = BootClock::now();
  const auto recovered = office.recover();
  const auto took = floor_ms(BootClock::now() - start).count();
  REQUIRE_MESSAGE(recovered.has_value(), (recovered ? "" : recovered.error().message));
  CHECK(recovered->jobs.size() == 100'000);
  MESSAGE("figure: recover jobs=100000 ms=", took);
}

namespace {

std::int64_t rows_read(const Fixture& fixture) {
  return status(fixture, "Handler_read_key") + status(fixture, "Handler_read_next") +
         status(fixture, "Handler_read_prev") + status(fixture, "Handler_read_last") +
         status(fixture, "Handler_read_rnd_next") + status(fixture, "Handler_read_first");
}

struct RetentionCost {
  std::int64_t statements = 0;
  std::int64_t read = 0;
  std::int64_t deleted = 0;
};

/// One round among this many final runs of ten chunks each, all of them due or none.
RetentionCost cost_of_round(int runs, bool is_due) {
  const Fixture fixture;
  REQUIRE(fixture.server.sql(
      fmt::format("INSERT INTO run (run_id, job_id, state, reason, recorded_ms, ended_ms) "
                  "SELECT seq, 10, 'succeeded', 'none', 1000, 1000 FROM seq_1_to_{0};"
                  "INSERT INTO log_chunk (run_id, attempt, stream, offset_bytes, length_bytes, "
                  "dropped_bytes, crc32, received_ms, content) SELECT r.seq, 1, 1, c.seq * 3, 3, 0, 0, "
                  "1000, 'abc' FROM seq_1_to_{0} r, seq_0_to_9 c; ANALYZE TABLE log_chunk, run",
                  runs),
      fixture.options.database));
  MysqlLogStore logs(fixture.options);
  MysqlRetention history(fixture.options);
  const SystemClock clock;
  RetentionOptions options;
  options.keep_logs = is_due ? Millis{60'000} : Millis{std::chrono::hours{24 * 36'500}};
  LogRetention retention(logs, history, clock, [] { return false; }, options);
  REQUIRE(logs.runs_with_logs(RunId{0}, 1));  // opens and prepares
  REQUIRE(history.logged_runs({RunId{1}}));
  // Looking costs statements and reads of its own, each time the same.
  const auto look = [&] { return std::pair{status(fixture, "Questions"), rows_read(fixture)}; };
  const auto first = look(), before = look();
  const auto done = retention.round();
  const auto after = look();
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
  RetentionCost cost;
  cost.statements = (after.first - before.first) - (before.first - first.first);
  cost.read = (after.second - before.second) - (before.second - first.second);
  cost.deleted = runs * 10 - fixture.number("SELECT COUNT(*) FROM log_chunk");
  return cost;
}

}  // namespace

TEST_CASE("cost: a round of retention costs the same however much is stored") {
  const auto few = cost_of_round(400, false), many = cost_of_round(8'000, false);
  MESSAGE("figure: retention_round nothing_due statements=", few.statements, "/", many.statements,
          " rows_read=", few.read, "/", many.read);
  CHECK(few.statements == 2);
  CHECK(many.statements == 2);
  CHECK(many.read <= few.read + few.read / 2);
  const auto small = cost_of_round(400, true), large = cost_of_round(8'000, true);
  MESSAGE("figure: retention_round all_due statements=", small.statements, "/", large.statements,
          " rows_read=", small.read, "/", large.read, " rows_deleted=", small.deleted, "/",
          large.deleted);
  CHECK(small.deleted == 1000);
  CHECK(large.deleted == 1000);
  CHECK(small.statements <= 20);
  CHECK(large.statements <= 20);
  CHECK(large.read <= small.read + small.read / 2);
}

namespace {

struct RunRetentionCost {
  std::int64_t statements = 0;
  std::int64_t read = 0;
  std::int64_t deleted = 0;
  double whole_ms = 0;  ///< all statements together, as the asker saw them: each holds its locks for less
};

/// One round among this many final runs, all of them due or none.
RunRetentionCost cost_of_run_round(int runs, bool is_due) {
  const Fixture fixture;
  const auto recorded = is_due ? 1000 : to_ms(SystemClock().wall());
  REQUIRE(fixture.server.sql(
      fmt::format("INSERT INTO run (run_id, job_id, tick_ms, state, reason, recorded_ms, ended_ms) "
                  "SELECT seq, 10, seq, 'succeeded', 'none', {1}, {1} FROM seq_1_to_{0};"
                  "INSERT INTO attempt (run_id, attempt, worker_id, worker_incarnation, epoch, late) "
                  "SELECT seq, 1, 'w', 'i', 1, 0 FROM seq_1_to_{0};"
                  "ANALYZE TABLE run, attempt", runs, recorded),
      fixture.options.database));
  MysqlLogStore logs(fixture.options);
  MysqlRetention pruned(fixture.options);
  MysqlHistory history(fixture.options);
  const SystemClock clock;
  RunRetentionOptions options;
  options.keep_runs = std::chrono::hours{24};
  RunRetention retention({history, pruned, logs}, clock, [] { return false; }, options);
  REQUIRE(logs.runs_with_logs(RunId{0}, 1));  // opens and prepares
  REQUIRE(pruned.logged_runs({RunId{1}}));
  REQUIRE(history.shortest_keep());
  const auto look = [&] { return std::pair{status(fixture, "Questions"), rows_read(fixture)}; };
  const auto first = look(), before = look();
  const MonoTime began = BootClock::now();
  const auto done = retention.round();
  RunRetentionCost cost;
  cost.whole_ms = std::chrono::duration<double, std::milli>(BootClock::now() - began).count();
  const auto after = look();
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
  cost.statements = (after.first - before.first) - (before.first - first.first);
  cost.read = (after.second - before.second) - (before.second - first.second);
  cost.deleted = runs - fixture.runs();
  CHECK(fixture.number("SELECT COUNT(*) FROM attempt") == fixture.runs());
  return cost;
}

/// Rows that a look at the newest 50 runs of the saved job `busy` reads, among so many of its own, and so
/// many one-offs of the same name.
std::int64_t rows_for_newest(int runs) {
  const Fixture fixture;
  REQUIRE(fixture.server.sql(
      fmt::format("INSERT INTO job (job_id, namespace, name, version, state, one_off, created_ms, changed_ms) "
                  "SELECT IF(seq = 0, 10, {1} + seq), 'default', 'busy', 1, 'enabled', seq > 0, 1, 1 "
                  "FROM seq_0_to_{0};"
                  "INSERT INTO run (run_id, namespace, job_id, kind, state, reason) "
                  "SELECT seq, 'default', IF(seq % 2, 10, {1} + seq DIV 2), 'manual', 'succeeded', 'none' "
                  "FROM seq_1_to_{2}; ANALYZE TABLE job, run",
                  runs, kOneOffBit, 2 * runs),
      fixture.options.database));
  MysqlReader reader(fixture.options);
  RunQuery query;
  query.job = "busy";
  query.one_off = false;
  const auto ask = [&] {
    const auto found = reader.list_runs(query);
    REQUIRE_MESSAGE(found.has_value(), (found ? "" : found.error().message));
    CHECK(found->size() == 50);
    CHECK(found->front().run.job == JobId{10});
  };
  ask();  // opens and prepares
  const auto first = rows_read(fixture), before = rows_read(fixture);
  ask();
  return (rows_read(fixture) - before) - (before - first);
}

}  // namespace

TEST_CASE("cost: a round of the runs' retention costs the same however many there are") {
  const auto few = cost_of_run_round(2'000, false), many = cost_of_run_round(8'000, false);
  MESSAGE("figure: run_retention_round nothing_due statements=", few.statements, "/", many.statements,
          " rows_read=", few.read, "/", many.read);
  // The shortest time by contents, and by versions that say it; a page of runs, their jobs, a page of gap rows.
  CHECK(few.statements == 5);
  CHECK(many.statements == 5);
  CHECK(many.read <= few.read + few.read / 2);
  const auto small = cost_of_run_round(2'000, true), large = cost_of_run_round(8'000, true);
  MESSAGE("figure: run_retention_round all_due statements=", small.statements, "/", large.statements,
          " rows_read=", small.read, "/", large.read, " runs_deleted=", small.deleted, "/", large.deleted,
          " whole_round_ms=", small.whole_ms, "/", large.whole_ms);
  CHECK(small.deleted == 1000);
  CHECK(large.deleted == 1000);
  CHECK(small.statements <= 30);
  CHECK(large.statements <= 30);
  CHECK(large.read <= small.read + small.read / 2);
}

TEST_CASE("cost: listing the newest runs of a job costs the same with many runs and many one-offs of its name") {
  const auto few = rows_for_newest(500), many = rows_for_newest(10'000);
  MESSAGE("figure: newest_runs_of_job rows_read=", few, "/", many);
  CHECK(many <= few + few / 2);
  CHECK(many <= 250);
}

TEST_CASE("cost: deleting the output of one statement, all chunks as large as can be") {
  const Fixture fixture;
  MysqlLogStore logs(fixture.options, {}, false);
  std::vector<LogChunk> chunks;
  for (int i = 0; i < 200; ++i) {
    LogChunk chunk;
    chunk.attempt = {RunId{1}, 1};
    chunk.offset = i * kMostChunkBytes;
    chunk.bytes = std::string(static_cast<std::size_t>(kMostChunkBytes), static_cast<char>(i));
    chunk.crc32 = crc_of(chunk.bytes);
    chunks.push_back(std::move(chunk));
  }
  REQUIRE(logs.append(chunks));
  const RetentionOptions options;
  const MonoTime start = BootClock::now();
  CHECK(*logs.erase({RunId{1}}, options.rows_per_delete));
  MESSAGE("figure: delete rows=", options.rows_per_delete, " bytes_each=", kMostChunkBytes,
          " ms=", floor_ms(BootClock::now() - start).count());
  CHECK(fixture.number("SELECT COUNT(*) FROM log_chunk") == 100);
}
