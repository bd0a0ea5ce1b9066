// Settings that change while a leader leads: which decisions go by them at once, and what a new Term goes by.
#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "common/model/setting_fields.h"
#include "harness.h"
#include "master/core/workers/worker_words.h"
#include "setting_places.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Reason;
using model::RunState;

namespace {

WorkerView worker_seen(const Harness& h, const std::string& id) {
  for (WorkerView& each : h.scheduler->snapshot(h.now).workers) {
    if (each.info->key.id == id) return std::move(each);
  }
  return {};
}

void set_to(Harness& h, const std::string& name, std::int64_t value) {
  const auto applied = h.set_setting(name, value);
  REQUIRE_MESSAGE(applied, applied.error().message);
  REQUIRE(applied->changed);
}

/// Four workers; w1 is here with these figures.
std::unique_ptr<Harness> four_workers() {
  auto h = std::make_unique<Harness>();
  h->listed();
  for (const char* id : {"w1", "w2", "w3", "w4"}) h->join(a_worker(id));
  return h;
}

void renew_as(Harness& h, const std::string& id, std::int32_t load, Millis offset, std::int32_t cpu = 0,
              std::int32_t memory = 0) {
  RenewAsked event{Token{9'000'000}, {id, "i1"}, {}, {}, offset};
  event.vitals.emplace();
  event.vitals->load_percent = load;
  event.vitals->cpu_percent = cpu;
  event.vitals->memory_percent = memory;
  h.handle(event);
}

bool ends_there(Harness& h, const std::string& id, const std::string& job, RunState how) {
  h.apply(a_job(job).on_worker(id).overlap(model::Overlap::Allow));
  const RunId run = h.run_now(job);
  if (h.state(run) != RunState::Dispatched) return false;
  h.report(run, how);
  return true;
}

void fail_there(Harness& h, const std::string& id, const std::string& job, const std::string& good) {
  REQUIRE(ends_there(h, id, job, RunState::Failed));
  REQUIRE(ends_there(h, good, job, RunState::Succeeded));
}

void go_away(Harness& h, const std::string& id, Millis time) {
  h.leave({id, "i1"});
  h.advance(time);
}

int alive(Harness& h, const std::string& job_prefix, Millis time) {
  int started = 0;
  for (Millis passed{0}; passed < time; passed += 100ms) {
    for (const DispatchItem& item : h.pop_dispatches()) {
      started += h.run(item.attempt.run).tick.has_value() ? 1 : 0;
      h.report(item.attempt.run, RunState::Succeeded);
    }
    h.advance(100ms);
  }
  (void)job_prefix;
  return started;
}

/// Late runs of many jobs wait to be caught up.
std::unique_ptr<Harness> with_late_runs(CoreOptions options = {}) {
  auto h = std::make_unique<Harness>(Recovered{}, options);
  h->join(a_worker("w1", 1000));
  for (int i = 0; i < 60; ++i) h->apply(a_job("j" + std::to_string(i)).every(1h).grace(10s));
  h->now.wall += 90min;
  h->now.mono += 90min;
  h->tick();
  return h;
}

CoreOptions with_receiver() {
  CoreOptions options;
  options.receivers = {{"ops", {model::Happening::Failed}, true}};
  return options;
}

void fail_runs(Harness& h, int count) {
  h.join(a_worker("w1"));
  h.apply(a_job("bad").overlap(model::Overlap::Allow).retries(0));
  for (int i = 0; i < count; ++i) h.report(h.run_now("bad"), RunState::Failed);
}

/// Its pool has a hook, workers with 10 slots each and so many runs.
std::unique_ptr<Harness> scaled_pool(int workers, int runs, Millis average = 0ms) {
  CoreOptions options;
  options.hooks = {"h"};
  options.scale_average = average;
  auto h = std::make_unique<Harness>(Recovered{}, options);
  for (int i = 1; i <= workers; ++i) h->join(a_worker("w" + std::to_string(i), 10));
  SetQuota event;
  event.name = "default";
  event.max_workers = 9;
  event.hook = "h";
  REQUIRE(h->set_quota(event));
  h->apply(a_job("busy").overlap(model::Overlap::Allow));
  for (int i = 0; i < runs; ++i) h->run_now("busy");
  h->advance(2s);
  return h;
}

std::int64_t wanted_workers(const Harness& h) { return h.scheduler->snapshot(h.now).scaling.at(0).wanted; }

using Proof = std::function<void()>;

/// What proves that a setting is acted on at once, by its name.
std::map<std::string, Proof> proofs() {
  std::map<std::string, Proof> all;
  all["workers.dead_after_ms"] = [] {
    auto h = four_workers();
    go_away(*h, "w1", 30s);
    CHECK(worker_seen(*h, "w1").state == "offline");
    set_to(*h, "workers.dead_after_ms", 20'000);
    CHECK(worker_seen(*h, "w1").state == "dead");
    set_to(*h, "workers.dead_after_ms", 40'000);
    CHECK(worker_seen(*h, "w1").state == "offline");
  };
  all["workers.keep_dead_ms"] = [] {
    auto h = four_workers();
    go_away(*h, "w1", 30s);
    set_to(*h, "workers.keep_dead_ms", 20'000);
    CHECK(worker_seen(*h, "w1").state.empty());
  };
  all["workers.exclude_ms"] = [] {
    auto h = four_workers();
    for (const char* job : {"a", "b", "c"}) fail_there(*h, "w1", job, "w2");
    h->advance(20s);
    REQUIRE(worker_seen(*h, "w1").state == "excluded");
    set_to(*h, "workers.exclude_ms", 30'000);
    CHECK(h->holds.rbegin()->second.until - h->holds.rbegin()->second.since == 30s);
    CHECK(h->holds.rbegin()->second.is_closed());
    h->advance(10s);
    CHECK(h->holds.rbegin()->second.trial.has_value());
  };
  all["workers.exclude_jobs"] = [] {
    auto h = four_workers();
    fail_there(*h, "w1", "a", "w2");
    CHECK(worker_seen(*h, "w1").state == "online");
    set_to(*h, "workers.exclude_jobs", 1);
    CHECK(worker_seen(*h, "w1").state == "excluded");
  };
  all["workers.flap_lives"] = [] {
    auto h = four_workers();
    set_to(*h, "workers.flap_lives", 2);
    go_away(*h, "w1", 20s);
    h->join(a_worker("w1", 4, "i2"));
    CHECK(worker_seen(*h, "w1").state == "flapping");
  };
  all["workers.warn_answer_ms"] = [] {
    auto h = four_workers();
    h->apply(a_job("slow").on_worker("w1"));
    const RunId run = h->run_now("slow");
    h->advance(500ms);
    h->accept(run);
    renew_as(*h, "w1", 0, 0ms);
    CHECK(worker_seen(*h, "w1").warning.empty());
    set_to(*h, "workers.warn_answer_ms", 100);
    CHECK(worker_seen(*h, "w1").warning == "it takes 0.5 s to accept an attempt");
  };
  all["workers.warn_load_percent"] = [] {
    auto h = four_workers();
    renew_as(*h, "w1", 70, 0ms);
    CHECK(worker_seen(*h, "w1").warning.empty());
    set_to(*h, "workers.warn_load_percent", 60);
    CHECK(worker_seen(*h, "w1").warning == "its load is 70 %");
    set_to(*h, "workers.warn_load_percent", 80);
    CHECK(worker_seen(*h, "w1").warning.empty());
  };
  all["workers.warn_clock_ms"] = [] {
    auto h = four_workers();
    renew_as(*h, "w1", 0, 500ms);
    CHECK(worker_seen(*h, "w1").warning.empty());
    set_to(*h, "workers.warn_clock_ms", 300);
    CHECK(worker_seen(*h, "w1").warning == "its clock is 0.5 s ahead");
  };
  all["workers.return_crowd"] = [] {
    auto h = four_workers();
    set_to(*h, "workers.return_crowd", 1);
    h->advance(20s);
    for (const char* id : {"w5", "w6", "w7"}) h->join(a_worker(id));
    CHECK(h->counter("let_in_later") > 0);
  };
  const auto band = [](const char* name, std::int64_t value, Millis away, const char* before, const char* after) {
    return [=] {
      auto h = four_workers();
      go_away(*h, "w1", away);
      CHECK(remarks_on(worker_seen(*h, "w1"), h->now.wall).find(before) != std::string::npos);
      set_to(*h, name, value);
      CHECK(remarks_on(worker_seen(*h, "w1"), h->now.wall).find(after) != std::string::npos);
    };
  };
  all["workers.away_band_1_ms"] = band("workers.away_band_1_ms", 30'000, 40s, "gone since", "for more than 30s");
  all["workers.away_band_2_ms"] = band("workers.away_band_2_ms", 90'000, 100s, "for more than 60s", "for more than 90s");
  all["workers.away_band_3_ms"] = band("workers.away_band_3_ms", 180'000, 200s, "for more than 120s", "for more than 180s");
  const auto weight = [](const char* name, std::int64_t value, std::int32_t load) {
    return [=] {
      auto h = four_workers();
      renew_as(*h, "w1", 33, 0ms, 50, 20);
      CHECK(worker_seen(*h, "w1").vitals->load_percent == 33);  // its own word
      set_to(*h, name, value);
      CHECK(worker_seen(*h, "w1").vitals->load_percent == load);
    };
  };
  all["load.cpu_weight"] = weight("load.cpu_weight", 0, 10);        // 30 x 20 / 60
  all["load.memory_weight"] = weight("load.memory_weight", 0, 29);  // 40 x 50 / 70
  all["load.slots_weight"] = weight("load.slots_weight", 0, 37);    // (40 x 50 + 30 x 20) / 70
  all["catch_up.rate"] = [] {
    CoreOptions slow;
    slow.catch_up_rate = 1;
    auto h = with_late_runs(slow);
    alive(*h, "j", 1s);
    set_to(*h, "catch_up.rate", 50);
    CHECK(alive(*h, "j", 2s) >= 50);  // the next does not wait for its turn by the rate before
  };
  all["notify.tries"] = [] {
    Harness h({}, with_receiver());
    fail_runs(h, 1);
    set_to(h, "notify.tries", 1);
    h.handle(NotificationTried{h.told.at(0).id, false, "no"});
    CHECK(h.notifications.begin()->second.state == model::Delivery::GivenUp);
  };
  all["notify.open"] = [] {
    Harness h({}, with_receiver());
    set_to(h, "notify.open", 1);
    fail_runs(h, 4);
    CHECK(h.counter("notifications_combined") == 3);
  };
  all["notify.keep_ms"] = [] {
    Harness h({}, with_receiver());
    fail_runs(h, 1);
    set_to(h, "notify.keep_ms", 60'000);
    h.now.mono += 2h;
    h.now.wall += 2h;
    h.tick();
    CHECK(h.last.changes.forget_notifications == h.now.wall - 60s);
  };
  all["autoscale.up_percent"] = [] {
    auto h = scaled_pool(1, 5);
    CHECK(wanted_workers(*h) == 1);
    set_to(*h, "autoscale.up_percent", 40);
    h->advance(2s);
    CHECK(wanted_workers(*h) == 2);
  };
  all["autoscale.down_percent"] = [] {
    auto h = scaled_pool(2, 7);
    h->advance(2min);
    CHECK(wanted_workers(*h) == 2);
    set_to(*h, "autoscale.down_percent", 40);
    h->advance(2s);
    CHECK(wanted_workers(*h) == 1);
  };
  all["autoscale.cool_down_ms"] = [] {
    auto h = scaled_pool(1, 9);
    CHECK(wanted_workers(*h) == 2);
    for (int i = 0; i < 40; ++i) h->run_now("busy");
    h->advance(5s);
    CHECK(wanted_workers(*h) == 2);
    set_to(*h, "autoscale.cool_down_ms", 3000);
    h->advance(2s);
    CHECK(wanted_workers(*h) > 2);
  };
  all["autoscale.average_ms"] = [] {
    auto h = scaled_pool(1, 9, 1h);
    CHECK(wanted_workers(*h) == 1);
    set_to(*h, "autoscale.average_ms", 0);
    h->advance(2s);
    CHECK(wanted_workers(*h) == 2);
  };
  all["autoscale.tries"] = [] {
    auto h = scaled_pool(1, 0);
    set_to(*h, "autoscale.tries", 1);
    h->handle(HookCalled{"default", h->hook_calls.at(0).id, false, "no"});
    CHECK(h->scaling.begin()->second.state == model::HookState::GivenUp);
  };
  all["autoscale.keep_ms"] = [] {
    auto h = scaled_pool(1, 0);
    set_to(*h, "autoscale.keep_ms", 60'000);
    h->now.mono += 2h;
    h->now.wall += 2h;
    h->tick();
    REQUIRE(h->last.changes.forget_scaling);
    CHECK(h->last.changes.forget_scaling->before == h->now.wall - 60s);
  };
  return all;
}

}  // namespace

TEST_CASE("settings: each that the core acts on changes what is decided at once") {
  const std::map<std::string, Proof> all = proofs();
  for (const model::SettingField& field : model::setting_fields()) {
    const std::string name(field.name);
    if (kSettingsBesideCore.contains(name)) continue;
    CAPTURE(name);
    REQUIRE(all.contains(name));
    all.at(name)();
  }
  CHECK(all.size() + kSettingsBesideCore.size() == model::setting_fields().size());
}

TEST_CASE("settings: a change is one version with who, when and why; the same value again is none") {
  Harness h;
  const auto applied = h.set_setting("catch_up.rate", 5);
  REQUIRE(applied);
  CHECK(applied->version == 1);
  REQUIRE(h.settings.size() == 1);
  const model::SettingRow& row = h.settings[0];
  CHECK(row.name == "catch_up.rate");
  CHECK(row.value == 5);
  CHECK(row.principal == "tester");
  CHECK(row.why == "a test");
  CHECK(row.changed == h.now.wall);
  CHECK((row.number >> kIdCounterBits) == h.epoch.value);
  CHECK(h.scheduler->settings().catch_up_rate == 5);
  const auto again = h.set_setting("catch_up.rate", 5);
  CHECK_FALSE(again->changed);
  CHECK(again->version == 1);
  CHECK(h.set_setting("catch_up.rate", std::nullopt)->version == 2);
  CHECK(h.scheduler->settings() == model::Settings{});
  CHECK_FALSE(h.set_setting("workers.dead_after_ms", std::nullopt)->changed);  // it was never set
}

TEST_CASE("settings: a change from another version is refused with both") {
  Harness h;
  set_to(h, "catch_up.rate", 5);
  const auto stale = h.set_setting("catch_up.rate", 6, 0);
  REQUIRE(!stale);
  CHECK(stale.error().code == ErrorCode::Conflict);
  CHECK(stale.error().message == "setting catch_up.rate has version 1, the change was made from version 0; read it "
                                 "again (rota setting get catch_up.rate)");
  CHECK(h.set_setting("catch_up.rate", 6, 1)->version == 2);
  CHECK(h.settings.size() == 2);
}

TEST_CASE("settings: what does not go with others is refused, and changes nothing") {
  Harness h;
  const auto refused = h.set_setting("workers.away_band_1_ms", 120'000);
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::InvalidArgument);
  CHECK(h.settings.empty());
  CHECK(h.scheduler->settings() == model::Settings{});
}

TEST_CASE("settings: a new Term goes by what was set, over what its own file says") {
  CoreOptions file;
  file.catch_up_rate = 7;
  file.dead_after = 50s;
  Harness h({}, file);
  set_to(h, "catch_up.rate", 5);
  set_to(h, "notify.tries", 3);
  REQUIRE(h.set_setting("notify.tries", std::nullopt));
  file.dead_after = 40s;
  Harness next(h.recovered(), file, Epoch{8});
  CHECK(next.scheduler->settings().catch_up_rate == 5);
  CHECK(next.scheduler->settings().dead_after == 40s);
  CHECK(next.scheduler->settings().notify_tries == 60);
  CHECK(next.set_setting("catch_up.rate", 6, 1)->version == 2);
  CHECK(next.set_setting("notify.tries", 4, 2)->version == 3);
  REQUIRE(next.set_setting("catch_up.rate", std::nullopt));
  CHECK(next.scheduler->settings().catch_up_rate == 7);
}
