#include "master/office/rewind.h"

#include <doctest/doctest.h>

#include "common/model/day_text.h"
#include "master/store/memory/memory_store.h"
#include "master/verify/verify.h"
#include "test/support/zk/event_log.h"
#include "test/support/zk/fake_server.h"

using namespace rota;
using namespace rota::master;

namespace {

constexpr Millis kSecond{1000};

/// One job, every second; recorded an hour ahead under epoch 1: the last hour in a gap, then a run, then a gap.
struct AheadCluster {
  zk::FakeServer server;
  zk::EventLog log;
  zk::Paths paths{"c"};
  std::unique_ptr<zk::Client> client = std::move(*server.factory()(zk::ClientOptions{}, log.handler()));
  store::MemoryStore database;
  const WallTime now = std::chrono::floor<std::chrono::seconds>(SystemClock().wall());
  const WallTime begin = now - Millis{3'600'000};
  const JobId job{7};
  Epoch epoch;
  model::Run run;

  AheadCluster() {
    epoch = enter_office(*client, paths, database, {"m", Millis{5000}, {}})->epoch;
    core::Changes batch;
    batch.jobs.emplace_back();
    batch.jobs[0].id = job;
    batch.jobs[0].name = "j";
    batch.jobs[0].version = 1;
    auto definition = std::make_shared<model::JobDefinition>();
    definition->name = "j";
    definition->rules.schedule.kind = model::ScheduleKind::FixedRate;
    definition->rules.schedule.interval = kSecond;
    batch.versions.emplace_back();
    batch.versions[0].job = job;
    batch.versions[0].version = 1;
    batch.versions[0].valid_from = batch.versions[0].anchor = begin;
    batch.versions[0].enabled = true;
    batch.versions[0].definition = definition;
    batch.gaps = {gap(1, 3610, 3610), gap(3612, 7200, 3589)};
    run.id = RunId{(epoch.value << kIdCounterBits) + 1};
    run.job = job;
    run.version = 1;
    run.kind = model::RunKind::Tick;
    run.tick = run.scheduled = begin + 3611 * kSecond;
    run.recorded = begin + 3611 * kSecond;  // 11 s ahead
    run.progress.epoch = epoch;
    batch.new_runs = {run};
    batch.watermark = begin + 7200 * kSecond;
    REQUIRE(database.apply(epoch, batch).outcome == store::ApplyOutcome::Applied);
    REQUIRE(note_stored(*client, paths, {epoch, batch.watermark}));
  }
  model::Gap gap(int from, int to, int count) const {
    return {job, 1, begin + from * kSecond, begin + to * kSecond, count, model::Reason::CoalescedInto, 0, epoch};
  }
  Result<store::Rewind> rewind() {
    const RewindParts parts{*client, paths, database, database, [](std::string_view) {
      return Result<std::shared_ptr<const model::ZoneRules>>(std::make_shared<const model::ZoneRules>());
    }};
    return rewind_ticks(parts, {"operator", Millis{5000}, {}}, now);
  }
  bool is_verified() {
    const verify::Sources sources{database, nullptr, [](std::string_view) {
      return Result<std::shared_ptr<const model::ZoneRules>>(std::make_shared<const model::ZoneRules>());
    }};
    const auto report = verify::verify(sources, {}, MonoTime::max());
    REQUIRE(report);
    for (const auto& check : report->checks) {
      if (check.promise != "P1" && check.promise != "P7") continue;
      INFO(check.promise, " ", check.examples.empty() ? "" : check.examples.front());
      CHECK(check.ok);
      if (!check.ok) return false;
    }
    return true;
  }
};

}  // namespace

TEST_CASE("rewind: ticks fire from now on, what fired keeps its run, and verification agrees") {
  AheadCluster c;
  CHECK(c.is_verified());
  const auto done = c.rewind();
  REQUIRE(done);
  CHECK(done->to == c.now);
  CHECK(c.database.read_marks()->watermark == c.now);
  const auto gaps = c.database.gaps_of(c.job);
  REQUIRE(gaps->size() == 1);
  CHECK(gaps->front().to == c.now);
  CHECK(gaps->front().count == 3600);
  CHECK(c.is_verified());
  model::Run later = c.run;  // of the next leader
  later.id = RunId{((done->epoch.value) << kIdCounterBits) + 1};
  later.kind = model::RunKind::Manual;
  later.tick.reset();
  later.recorded = c.now + kSecond;
  later.progress.epoch = done->epoch;
  core::Changes batch;
  batch.new_runs = {later};
  REQUIRE(c.database.apply(done->epoch, batch).outcome == store::ApplyOutcome::Applied);
  CHECK(c.is_verified());
  const auto again = c.rewind();
  REQUIRE_FALSE(again);
  CHECK(again.error().code == ErrorCode::InvalidArgument);
}

TEST_CASE("rewind: who led is refused, and a rewound database does not look like one that went back") {
  AheadCluster c;
  REQUIRE(c.rewind());
  CHECK(c.database.apply(c.epoch, {}).outcome == store::ApplyOutcome::Fenced);
  const auto office = enter_office(*c.client, c.paths, c.database,
                                  {"m", Millis{5000}, {c.epoch, c.begin + 7200 * kSecond}});
  REQUIRE(office);
  CHECK_FALSE(office->recovered.database_went_back);
  CHECK(office->recovered.watermark == c.now);
  REQUIRE(office->recovered.taken.size() == 1);
  CHECK(office->recovered.taken.front() == std::pair{c.job, c.begin + 3611 * kSecond});
}

TEST_CASE("rewind: nothing is done where nothing is ahead, or the clocks disagree") {
  AheadCluster c;
  const Epoch before = c.database.read_marks()->epoch;
  const RewindParts parts{*c.client, c.paths, c.database, c.database, {}};
  const Candidate operator_{"operator", Millis{5000}, {}};
  CHECK(rewind_ticks(parts, operator_, c.now - Millis{60'000}).error().code == ErrorCode::InvalidArgument);
  CHECK(rewind_ticks(parts, operator_, c.now + Millis{7'300'000}).error().code == ErrorCode::InvalidArgument);
  CHECK(c.database.read_marks()->epoch == before);
}

TEST_CASE("rewind: gap rows of jobs with calendars are cut too, by what the calendar said then") {
  AheadCluster c;
  const auto days = std::chrono::floor<std::chrono::days>(c.begin);
  const auto version = [&](std::int32_t number, WallTime from, std::vector<std::string> exclude) {
    model::CalendarRow row;
    row.version = number;
    row.from = row.changed = from;
    auto calendar = std::make_shared<model::Calendar>();
    calendar->name = "de";
    calendar->exclude = std::move(exclude);
    row.calendar = std::move(calendar);
    return row;
  };
  // Today is closed from an edit on that counts a second before `begin`: its ticks go back to yesterday.
  const std::string today = model::day_to_text(days), tomorrow = model::day_to_text(days + std::chrono::days{1});
  core::Changes batch;
  batch.calendars = {version(1, c.begin - std::chrono::days{9}, {}),
                     version(2, c.begin - kSecond, {today, tomorrow})};
  auto definition = std::make_shared<model::JobDefinition>();
  definition->name = "k";
  definition->rules.schedule.kind = model::ScheduleKind::Entries;
  definition->rules.schedule.entries = {"cron 0 */2 * * * *; calendars de; otherwise previous"};
  batch.jobs.emplace_back();
  batch.jobs[0].id = JobId{8};
  batch.jobs[0].name = "k";
  batch.jobs[0].version = 1;
  batch.versions.emplace_back();
  batch.versions[0].job = JobId{8};
  batch.versions[0].version = 1;
  batch.versions[0].valid_from = batch.versions[0].anchor = c.begin;
  batch.versions[0].definition = definition;
  const auto even_minute = [](WallTime at) {  // the last one at or before
    return at - (at.time_since_epoch() % Millis{120'000});
  };
  model::Gap gap = c.gap(0, 7200, 60);
  gap.from = even_minute(c.begin) + Millis{120'000};
  gap.to = even_minute(gap.to);
  gap.job = JobId{8};
  gap.reason = model::Reason::CalendarEdited;
  batch.gaps = {gap};
  REQUIRE(c.database.apply(c.epoch, batch).outcome == store::ApplyOutcome::Applied);
  CHECK(c.is_verified());
  REQUIRE(c.rewind());
  const auto gaps = c.database.gaps_of(JobId{8});
  REQUIRE(gaps->size() == 1);
  CHECK(gaps->front().to == even_minute(c.now));
  CHECK(gaps->front().count == 30);
  CHECK(c.database.calendar_versions("default", "de")->back().from == c.begin - kSecond);
  CHECK(c.is_verified());
}

TEST_CASE("rewind: an edit of a calendar that was made ahead is one of now") {
  AheadCluster c;
  core::Changes batch;
  for (const int version : {1, 2, 3}) {
    auto calendar = std::make_shared<model::Calendar>();
    calendar->name = "all";
    calendar->description = "version " + std::to_string(version);
    model::CalendarRow& row = batch.calendars.emplace_back();
    row.version = version;
    row.changed = c.begin + (version - 1) * 3000 * kSecond;
    row.from = row.changed + Millis{10'000};
    row.calendar = calendar;
  }
  REQUIRE(c.database.apply(c.epoch, batch).outcome == store::ApplyOutcome::Applied);
  REQUIRE(c.rewind());
  const auto rows = c.database.calendar_versions("default", "all");
  REQUIRE(rows->size() == 3);
  CHECK(rows->at(1).from == c.begin + 3010 * kSecond);
  CHECK(rows->at(2).changed == c.now);
  CHECK(rows->at(2).from == c.now + Millis{10'003});  // 3: each version later than the one before it
  const auto office = enter_office(*c.client, c.paths, c.database, {"m", Millis{5000}, {}});
  REQUIRE(office);
  for (const core::RecoveredCalendar& each : office->recovered.calendars) CHECK(each.row.changed <= c.now);
}
