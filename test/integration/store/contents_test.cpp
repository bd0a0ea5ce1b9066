// Definitions by content: an upgrade from the rows of masters of before, and who may take office then.
#include "master/store/mysql/contents.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include "master/store/mysql/mysql_history.h"
#include "master/store/mysql/mysql_reader.h"
#include "master/store/mysql/mysql_store.h"
#include "master/store/mysql/schema.h"
#include "master/verify/verify.h"
#include "test/integration/store/fixture.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

constexpr int kJobs = 600, kShapes = 7;
constexpr std::int64_t kOneOff = kOneOffBit | 5;

void execute(const Fixture& fixture, const std::string& sql) {
  const auto done = fixture.server.sql(sql, fixture.options.database);
  REQUIRE_MESSAGE(done.has_value(), (done ? "" : done.error().message));
}

std::string space_of(std::int64_t id) { return id % 2 == 0 ? "even" : "odd"; }

/// Which shape a job has: jobs of both namespaces share them.
std::int64_t shape_of(std::int64_t id) { return id / 2 % kShapes; }

void add_job(core::Changes& changes, std::int64_t id, JobVersion version, std::int64_t shape) {
  model::Job job;
  job.id = JobId{id};
  job.space = space_of(id);
  job.name = fmt::format("job-{}", id);
  job.version = version;
  job.one_off = id == kOneOff;
  changes.jobs.push_back(job);
  model::JobDefinition definition;
  definition.space = job.space;
  definition.name = job.name;
  definition.rules.schedule.kind = model::ScheduleKind::Cron;
  definition.rules.schedule.cron = fmt::format("{} 3 * * *", shape);
  definition.rules.keep_runs = Millis{5000};
  definition.work.script = "echo " + std::to_string(shape);
  model::JobVersionRow& row = changes.versions.emplace_back();
  row.job = job.id;
  row.version = version;
  row.principal = "local";
  row.definition = std::make_shared<const model::JobDefinition>(std::move(definition));
}

core::Changes many_jobs() {
  core::Changes changes;
  for (std::int64_t id = 1; id <= kJobs; ++id) add_job(changes, id, 1, shape_of(id));
  add_job(changes, kOneOff, 1, 1);
  return changes;
}

/// The tables as the version before made them, with its rows.
void fill_as_before(const Fixture& fixture) {
  MysqlStore store(fixture.options);
  REQUIRE(store.apply(Epoch{1}, many_jobs()).outcome == ApplyOutcome::Applied);
  execute(fixture,
           "ALTER TABLE epoch DROP CONSTRAINT needs_a_newer_rota_master;"
           "ALTER TABLE epoch DROP COLUMN contents_needed, DROP COLUMN contents_read_by;"
           "ALTER TABLE job_version DROP COLUMN content_hash; DROP TABLE definition;"
           "DELETE FROM schema_step WHERE number BETWEEN 58 AND 60");
}

bool led_by_older(const Fixture& fixture, int epoch, std::string& why) {
  const auto done = fixture.server.sql(fmt::format("UPDATE epoch SET value = {0}, dispatch_apart_for = {0}, "
                                                   "holder = 'old' WHERE partition_no = 1 AND value < {0}", epoch),
                                       fixture.options.database);
  if (!done) why = done.error().message;
  return done.has_value();
}

/// What a leader would start from, as text.
std::string start_of(MysqlOffice& office) {
  const auto all = office.recover();
  REQUIRE_MESSAGE(all.has_value(), (all ? "" : all.error().message));
  std::string out;
  for (const auto& job : all->jobs) {
    out += fmt::format("{} {} {} {} {}\n", job.job.id.value, job.job.space, job.job.name,
                       job.rules->schedule.cron, job.definition_hash);
  }
  return out;
}

std::string read_definitions(MysqlReader& reader) {
  std::string out;
  for (const std::int64_t id : {std::int64_t{1}, std::int64_t{2}, std::int64_t{kJobs}, kOneOff}) {
    const auto found = reader.definition_of(JobId{id}, 1);
    REQUIRE_MESSAGE(found.has_value(), (found ? "" : found.error().message));
    out += fmt::format("{} {} {} {}\n", (*found)->space, (*found)->name, (*found)->work.script,
                       (*found)->rules.schedule.cron);
  }
  return out;
}

std::int64_t inline_rows(const Fixture& fixture) {
  return fixture.number("SELECT COUNT(*) FROM job_version WHERE content_hash IS NULL");
}

std::int64_t contents(const Fixture& fixture) { return fixture.number("SELECT COUNT(*) FROM definition"); }

void beat_until_filled(const Fixture& fixture, MysqlOffice& office, Epoch epoch) {
  for (int i = 0; i < 1000 && inline_rows(fixture) > 1; ++i) REQUIRE(office.beat(epoch));
}

}  // namespace

TEST_CASE("contents: the tables of before are upgraded, and filled once all masters can read them") {
  const Fixture fixture;
  fill_as_before(fixture);
  for (int i = 0; i < 2; ++i) REQUIRE(upgrade_schema(fixture.options));
  std::string why;
  CHECK(led_by_older(fixture, 2, why));  // masters of before may lead until all are new
  MysqlReader reader(fixture.options);
  MysqlOffice office(fixture.options, utc_only());
  REQUIRE(office.enter_office(Epoch{3}, "new"));
  const std::string jobs = start_of(office), definitions = read_definitions(reader);
  for (int i = 0; i < 5; ++i) REQUIRE(office.beat(Epoch{3}));
  CHECK(inline_rows(fixture) == kJobs + 1);
  CHECK(led_by_older(fixture, 4, why));
  MysqlStore store(fixture.options);
  REQUIRE(office.enter_office(Epoch{5}, "new"));
  core::Changes one;
  add_job(one, kJobs + 1, 1, 3);
  for (int i = 0; i < 2; ++i) REQUIRE(store.apply(Epoch{5}, one).outcome == ApplyOutcome::Applied);
  CHECK(contents(fixture) == 0);  // as masters of before can read it
  execute(fixture, fmt::format("DELETE FROM job_version WHERE job_id = {0}; DELETE FROM job WHERE job_id = {0}",
                                kJobs + 1));

  REQUIRE(office.need_contents(Epoch{4}));  // of a leader that is over
  CHECK(led_by_older(fixture, 6, why));
  REQUIRE(office.enter_office(Epoch{7}, "new"));
  REQUIRE(office.need_contents(Epoch{7}));
  REQUIRE(office.need_contents(Epoch{7}));
  CHECK_FALSE(led_by_older(fixture, 8, why));
  CHECK_MESSAGE(why.find("needs_a_newer_rota_master") != std::string::npos, why);

  {  // a leader that is broken off in the midst of it, and goes on although it is over
    ContentFill fill;
    const auto connection = connect(fixture.options);
    REQUIRE(fill.step(*connection, Epoch{7}));
    CHECK(inline_rows(fixture) > 1);
    CHECK(inline_rows(fixture) < kJobs + 1);
    CHECK(start_of(office) == jobs);
    REQUIRE(office.enter_office(Epoch{9}, "next"));
    const auto left = inline_rows(fixture);
    REQUIRE(fill.step(*connection, Epoch{7}));
    CHECK(fill.is_over());
    CHECK(inline_rows(fixture) == left);
  }
  beat_until_filled(fixture, office, Epoch{9});
  CHECK(inline_rows(fixture) == 1);  // the one-off says it itself
  CHECK(contents(fixture) == kShapes);
  CHECK(start_of(office) == jobs);
  CHECK(read_definitions(reader) == definitions);
  CHECK(MysqlHistory(fixture.options).shortest_keep() == std::optional(Millis{5000}));
}

TEST_CASE("contents: new versions point at them, and edits without a definition carry them on") {
  const Fixture fixture;
  MysqlStore store(fixture.options);
  MysqlOffice office(fixture.options, utc_only());
  REQUIRE(office.need_contents(Epoch{1}));
  core::Changes watermark;
  watermark.watermark = wall_from_ms(1000);
  REQUIRE(store.apply(Epoch{1}, watermark).outcome == ApplyOutcome::Applied);  // tells the store of it
  for (int i = 0; i < 2; ++i) REQUIRE(store.apply(Epoch{1}, many_jobs()).outcome == ApplyOutcome::Applied);
  CHECK(contents(fixture) == kShapes);
  CHECK(inline_rows(fixture) == 1);
  CHECK(fixture.number("SELECT SUM(LENGTH(rules) + LENGTH(definition)) FROM job_version "
                       "WHERE content_hash IS NOT NULL") == 0);

  core::Changes carried;
  add_job(carried, 1, 2, 0);
  carried.versions[0].definition = nullptr;
  REQUIRE(store.apply(Epoch{1}, carried).outcome == ApplyOutcome::Applied);
  MysqlReader reader(fixture.options);
  const auto versions = reader.versions_of(JobId{1});
  REQUIRE_MESSAGE(versions.has_value(), (versions ? "" : versions.error().message));
  REQUIRE(versions->size() == 2);
  CHECK(*versions->at(0).definition == *versions->at(1).definition);
  CHECK(versions->at(1).definition->name == "job-1");
  CHECK(versions->at(1).definition->space == "odd");
  const auto listed = reader.list_jobs("even", "job-", 3, "");
  REQUIRE(listed);
  REQUIRE(listed->size() == 3);
  CHECK(listed->at(2).version.definition->name == listed->at(2).job.name);
}

TEST_CASE("contents: one that is missing is named by whoever reads a job that needs it") {
  const Fixture fixture;
  MysqlStore store(fixture.options);
  MysqlOffice office(fixture.options, utc_only());
  REQUIRE(office.need_contents(Epoch{1}));
  core::Changes watermark;
  watermark.watermark = wall_from_ms(1000);
  REQUIRE(store.apply(Epoch{1}, watermark).outcome == ApplyOutcome::Applied);
  REQUIRE(store.apply(Epoch{1}, many_jobs()).outcome == ApplyOutcome::Applied);
  execute(fixture, "DELETE FROM definition");
  MysqlReader reader(fixture.options);
  const auto found = reader.definition_of(JobId{2}, 1);
  REQUIRE_FALSE(found);
  CHECK(found.error().code == ErrorCode::Corrupt);
  CHECK(found.error().message == "version 1 of job 2 ('job-2'): its row of `definition` is missing");
  const auto all = office.recover();
  REQUIRE_FALSE(all);
  CHECK(all.error().code == ErrorCode::Corrupt);
  CHECK(all.error().message == "job 1 ('job-1'): its row of `definition` is missing");
}

TEST_CASE("contents: a takeover reads only those that were not read ahead") {
  const Fixture fixture;
  MysqlStore store(fixture.options);
  MysqlOffice office(fixture.options, utc_only());
  REQUIRE(office.need_contents(Epoch{1}));
  core::Changes watermark;
  watermark.watermark = wall_from_ms(1000);
  REQUIRE(store.apply(Epoch{1}, watermark).outcome == ApplyOutcome::Applied);
  REQUIRE(store.apply(Epoch{1}, many_jobs()).outcome == ApplyOutcome::Applied);
  const std::string jobs = start_of(office);
  const MonoTime now{std::chrono::hours(1)};
  for (int i = 0; i < 100 && office.read_ahead(now); ++i) {}
  core::Changes one;
  add_job(one, kJobs + 1, 1, kShapes + 1);  // another content than all others
  REQUIRE(store.apply(Epoch{1}, one).outcome == ApplyOutcome::Applied);
  const std::string more = start_of(office);
  CHECK(more.starts_with(jobs));
  CHECK(more.size() > jobs.size());

  for (int i = 0; i < 100 && office.read_ahead(now + Millis{60'000}); ++i) {}
  execute(fixture, "UPDATE definition SET rules = '{'");  // nobody does; it shows that none is read
  CHECK(start_of(office) == more);
  MysqlOffice other(fixture.options, utc_only());
  CHECK_FALSE(other.recover());
}
