// How long verify takes with many jobs. ROTA_VERIFY_JOBS=200000 looks at as many as the promises name.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "master/store/logs/mysql_log_store.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/mysql_store.h"
#include "master/verify/verify.h"
#include "test/integration/store/fixture.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

const WallTime kBegun = wall_from_ms(1'700'000'000'000);
constexpr std::int64_t kRunsBefore = std::int64_t{1} << kIdCounterBits;

/// One job every minute, two ticks old, with an output of five bytes a run.
core::Changes one_job() {
  core::Changes changes;
  model::JobDefinition definition;
  definition.name = "job";
  definition.rules.schedule.kind = model::ScheduleKind::FixedRate;
  definition.rules.schedule.interval = Millis{60'000};
  definition.work.argv = {"/bin/true"};
  changes.jobs.emplace_back();
  changes.jobs[0].id = JobId{1};
  changes.jobs[0].name = "job";
  changes.jobs[0].version = 1;
  changes.versions.emplace_back();
  changes.versions[0].job = JobId{1};
  changes.versions[0].version = 1;
  changes.versions[0].valid_from = changes.versions[0].anchor = kBegun;
  changes.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
  for (const int tick : {1, 2}) {
    model::Run run;
    run.id = RunId{kRunsBefore + tick * 1'000'000};
    run.job = JobId{1};
    run.version = 1;
    run.tick = run.scheduled = run.recorded = kBegun + Millis{60'000 * tick};
    model::RunProgress& progress = run.progress;
    progress.state = progress.outcome.state = model::RunState::Succeeded;
    progress.attempt = 1;
    progress.worker = {"w", "i"};
    progress.epoch = Epoch{1};
    progress.dispatched = progress.started = progress.outcome.started = run.recorded;
    progress.ended = progress.outcome.ended = run.recorded + Millis{5};
    progress.outcome.stdout_bytes = 5;
    changes.new_runs.push_back(run);
  }
  changes.watermark = kBegun + Millis{150'000};
  return changes;
}

int jobs_wanted() {
  const char* asked = std::getenv("ROTA_VERIFY_JOBS");
  return asked == nullptr ? 10'000 : std::atoi(asked);
}

}  // namespace

TEST_CASE("verify: many jobs in a time that grows with them, whole or in parts") {
  const Fixture fixture;
  const int jobs = jobs_wanted();
  MysqlStore store(fixture.options);
  const auto applied = store.apply(Epoch{1}, one_job());
  REQUIRE_MESSAGE(applied.outcome == ApplyOutcome::Applied, applied.detail);
  const auto filled = fixture.server.sql(
      fmt::format(
          "INSERT INTO job (job_id, namespace, name, saved_name, version, state, one_off, state_by, state_why, "
          "created_ms, changed_ms) SELECT seq, namespace, CONCAT(name, seq), CONCAT(name, seq), version, state, one_off, "
          "state_by, state_why, created_ms, changed_ms FROM job, seq_2_to_{0};"
          "INSERT INTO job_version SELECT seq, version, valid_from_ms, valid_to_ms, anchor_ms, enabled, principal, "
          "definition_hash, rules, definition, content_hash FROM job_version, seq_2_to_{0};"
          "CREATE TEMPORARY TABLE model AS SELECT * FROM run;"
          "CREATE TEMPORARY TABLE more AS SELECT m.*, seq FROM model m, seq_2_to_{0};"
          "UPDATE more SET run_id = run_id + seq, job_id = seq;"
          "ALTER TABLE more DROP COLUMN seq;"
          "INSERT INTO run SELECT * FROM more;"
          "INSERT INTO log_chunk (run_id, attempt, stream, offset_bytes, length_bytes, dropped_bytes, crc32, "
          "received_ms, codec, content) SELECT run_id, 1, 1, 0, 5, 0, CRC32('hello'), 1000, 0, 'hello' FROM run;",
          jobs),
      fixture.options.database);
  REQUIRE_MESSAGE(filled.has_value(), (filled ? "" : filled.error().message));
  MysqlReader reader(fixture.options);
  MysqlLogStore logs(fixture.options);
  const verify::Sources sources{reader, &logs, utc_only()};
  verify::Request request;
  request.now = kBegun + Millis{600'000};
  const MonoTime began = BootClock::now();
  const auto whole = verify::verify(sources, request, began + std::chrono::minutes{10});
  const auto took = floor_ms(BootClock::now() - began).count();
  REQUIRE_MESSAGE(whole.has_value(), (whole ? "" : whole.error().message));
  MESSAGE("figure: verify jobs=", jobs, " runs=", 2 * jobs, " ms=", took);
  CHECK(whole->ok);
  CHECK(whole->is_complete);
  CHECK(whole->checks[0].fired == 2 * jobs);
  const auto output = std::ranges::find(whole->checks, "P13", &verify::Check::promise);
  REQUIRE(output != whole->checks.end());
  CHECK(output->planned == 4 * jobs);

  REQUIRE(fixture.server.sql(fmt::format("DELETE FROM log_chunk WHERE run_id = {}", kRunsBefore + 1'000'007),
                             fixture.options.database));
  int parts = 0;
  bool is_complete = false, ok = true;
  std::int64_t longest_ms = 0, fired = 0;
  for (; !is_complete; ++parts) {
    const MonoTime asked = BootClock::now();
    const auto part = verify::verify(sources, request, asked + Millis{1000});
    longest_ms = std::max(longest_ms, static_cast<std::int64_t>(floor_ms(BootClock::now() - asked).count()));
    REQUIRE_MESSAGE(part.has_value(), (part ? "" : part.error().message));
    ok = ok && part->ok;
    fired += part->checks[0].fired;
    is_complete = part->is_complete;
    request.from = part->next;
  }
  MESSAGE("figure: verify in parts of 1000 ms: parts=", parts, " longest_ms=", longest_ms);
  CHECK_FALSE(ok);
  CHECK(fired == 2 * jobs);
}
