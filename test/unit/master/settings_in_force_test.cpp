// Settings on each master: what is in force beside the core, from the leader's word or from the store, and who acts on it.
#include "master/upkeep/settings_in_force.h"

#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "common/model/setting_fields.h"
#include "master/loop/inbox.h"
#include "master/notify/no_leader_rules.h"
#include "master/store/logs/log_rules.h"
#include "master/store/memory/memory_store.h"
#include "master/upkeep/log_retention.h"
#include "master/upkeep/run_retention.h"
#include "test/support/patience.h"
#include "test/unit/core/setting_places.h"

using namespace rota;
using namespace rota::master;
using std::chrono::hours;
using Rows = SettingsInForce::Rows;

namespace {

model::SettingRow row_of(const char* name, std::int32_t version, std::optional<std::int64_t> value, std::int64_t number) {
  model::SettingRow row;
  row.name = name;
  row.version = version;
  row.value = value;
  row.number = number;
  row.principal = "test";
  return row;
}

struct Follower {
  SettingsInForce settings{FileSettings{}};
  int reads = 0;
  std::vector<model::Settings> heard;

  Follower() {
    settings.listen([this](const model::Settings& now) { heard.push_back(now); });
  }
  void follow(std::int64_t newest, const Rows& rows) {
    const auto done = settings.follow(newest, [&]() -> Result<Rows> {
      ++reads;
      return rows;
    });
    REQUIRE(done);
  }
  std::int32_t rate() const { return settings.values().catch_up_rate; }
};

/// A run with output that ended long ago, and a thread of retention that keeps it by what it was told first.
struct Kept {
  Kept() {
    REQUIRE(memory.enter_office(Epoch{1}, "test"));
    core::Changes changes;
    model::JobDefinition definition;
    definition.name = "job";
    changes.jobs.emplace_back();
    changes.jobs[0].id = JobId{1};
    changes.jobs[0].name = definition.name;
    changes.jobs[0].version = 1;
    changes.versions.emplace_back();
    changes.versions[0].job = JobId{1};
    changes.versions[0].version = 1;
    changes.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
    model::Run run;
    run.id = RunId{11};
    run.job = JobId{1};
    run.recorded = run.scheduled = clock.wall();
    run.progress.attempt = 1;
    run.progress.state = model::RunState::Succeeded;
    run.progress.ended = clock.wall();
    changes.new_runs.push_back(run);
    REQUIRE(memory.apply(Epoch{1}, changes).outcome == store::ApplyOutcome::Applied);
    store::LogChunk chunk;
    chunk.attempt = {run.id, 1};
    chunk.bytes = "abc";
    chunk.crc32 = store::crc_of(chunk.bytes);
    REQUIRE(memory.append({chunk}));
    clock.advance(hours{2});
  }
  bool has_output() { return !memory.runs_with_logs(RunId{}, 10)->empty(); }
  bool has_run() { return !memory.past_runs(RunId{}, 10)->empty(); }

  FakeClock clock;
  store::MemoryStore memory;
};

void wait_while(const std::function<bool()>& holds) {
  CHECK(testing::eventually([&] { return !holds(); }));
}

RetentionOptions kept_output(Millis keep, std::int64_t limit = 0) {
  RetentionOptions options;
  options.keep_logs = keep;
  options.limit_bytes = limit;
  options.pause_in_pass = Millis{1};
  options.pause_after_pass = hours{10};
  return options;
}

RunRetentionOptions kept_runs(Millis keep) {
  RunRetentionOptions options;
  options.keep_runs = keep;
  options.pause_in_pass = Millis{1};
  options.pause_after_pass = options.pause_after_deleting = hours{10};
  return options;
}

/// It has found nothing to do, and would wait for hours.
void tell_output_anew(const RetentionOptions& now) {
  Kept kept;
  LogRetention retention(kept.memory, kept.memory, kept.clock, [] { return false; }, kept_output(hours{3}));
  retention.start();
  retention.set_leading(true);
  retention.set_options(now);
  wait_while([&] { return kept.has_output(); });
  CHECK(kept.has_run());
  retention.stop();
}

std::map<std::string, std::function<void()>> proofs_beside_core() {
  std::map<std::string, std::function<void()>> all;
  all["logs.keep_ms"] = [] { tell_output_anew(kept_output(hours{1})); };
  all["logs.limit_bytes"] = [] { tell_output_anew(kept_output(hours{3}, 1)); };
  all["runs.keep_ms"] = [] {
    Kept kept;
    RunRetention retention({kept.memory, kept.memory, kept.memory}, kept.clock, [] { return false; },
                           kept_runs(hours{3}));
    retention.start();
    retention.set_leading(true);
    retention.set_options(kept_runs(hours{1}));
    wait_while([&] { return kept.has_run(); });
    retention.stop();
  };
  all["notify.no_leader_after_ms"] = [] {
    notify::NoLeaderRules rules(Millis{30'000});
    CHECK_FALSE(rules.look(MonoTime{}, false));
    CHECK_FALSE(rules.look(MonoTime{} + Millis{5000}, false));
    rules.set_after(Millis{5000});
    CHECK(rules.look(MonoTime{} + Millis{5000}, false) == Millis{5000});
  };
  all["inbox_events"] = [] {
    loop::Inbox inbox({1, 1});
    const auto post = [&] { return inbox.post(core::CancelRun{Token{1}, "t", RunId{1}, ""}).has_value(); };
    CHECK(post());
    CHECK_FALSE(post());
    inbox.set_limits({2, 2});
    CHECK(post());
    CHECK_FALSE(post());
  };
  return all;
}

}  // namespace

TEST_CASE("settings in force: each on which a part beside the core acts changes what it does at once") {
  const auto all = proofs_beside_core();
  for (const std::string& name : test::kSettingsBesideCore) {
    CAPTURE(name);
    REQUIRE(model::find_setting(name) != nullptr);
    REQUIRE(all.contains(name));
    all.at(name)();
  }
  CHECK(all.size() == test::kSettingsBesideCore.size());
}

TEST_CASE("settings in force: rows are read when the number of the newest change is another one, and only then") {
  Follower it;
  it.follow(0, {});
  CHECK(it.reads == 0);
  it.follow(5, {row_of("catch_up.rate", 1, 7, 5)});
  it.follow(5, {});
  CHECK(it.reads == 1);
  CHECK(it.rate() == 7);
  CHECK(it.heard.size() == 1);
  it.follow(6, {row_of("catch_up.rate", 2, std::nullopt, 6)});
  CHECK(it.rate() == 20);
  CHECK(it.heard.size() == 2);
}

TEST_CASE("settings in force: rows that lag behind the number are read again") {
  Follower it;
  it.follow(6, {row_of("catch_up.rate", 1, 7, 5)});
  CHECK(it.rate() == 7);
  it.follow(6, {row_of("catch_up.rate", 2, 8, 6)});
  CHECK(it.rate() == 8);
  CHECK(it.reads == 2);
}

TEST_CASE("settings in force: a database that went back counts as it is") {
  Follower it;
  it.follow(9, {row_of("catch_up.rate", 2, 8, 9)});
  it.follow(5, {row_of("catch_up.rate", 1, 7, 5)});
  CHECK(it.rate() == 7);
  it.follow(0, {});
  CHECK(it.rate() == 20);
}

TEST_CASE("settings in force: the leader's word that comes while rows are read counts, and not what was read") {
  Follower it;
  const auto done = it.settings.follow(5, [&]() -> Result<Rows> {
    it.settings.put({row_of("catch_up.rate", 2, 9, 6)});
    return Rows{row_of("catch_up.rate", 1, 7, 5)};
  });
  REQUIRE(done);
  CHECK(it.rate() == 9);
  CHECK(it.settings.rows() == Rows{row_of("catch_up.rate", 2, 9, 6)});
  it.settings.put({row_of("notify.tries", 1, 3, 7)});
  CHECK(it.settings.rows().size() == 2);
  it.follow(7, {});
  CHECK(it.reads == 0);
}

TEST_CASE("settings in force: what cannot be read leaves what stands, and is read with the next look") {
  Follower it;
  it.follow(5, {row_of("catch_up.rate", 1, 7, 5)});
  CHECK_FALSE(it.settings.follow(6, []() -> Result<Rows> { return fail(ErrorCode::Unavailable, "down"); }));
  CHECK(it.rate() == 7);
  it.follow(6, {row_of("catch_up.rate", 2, 8, 6)});
  CHECK(it.rate() == 8);
}

TEST_CASE("settings in force: what the file says counts where nothing is set") {
  FileSettings file;
  file.values.catch_up_rate = 3;
  file.given = {"catch_up.rate"};
  SettingsInForce settings(file);
  CHECK(settings.values().catch_up_rate == 3);
  settings.begin({row_of("catch_up.rate", 1, 7, 5), row_of("of.a.newer.master", 1, 1, 6)});
  CHECK(settings.values().catch_up_rate == 7);
  settings.begin({row_of("catch_up.rate", 2, std::nullopt, 7)});
  CHECK(settings.values().catch_up_rate == 3);
}
