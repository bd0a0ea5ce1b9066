// Who is told what happened, how often it is tried, and what a takeover goes on with.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "harness.h"
#include "master/core/notify/try_again.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Delivery;
using model::Happening;
using model::RunState;

namespace {

constexpr int kTries = model::Settings{}.notify_tries;
constexpr std::size_t kOpen = model::Settings{}.notify_open;

CoreOptions with_receivers(std::vector<model::ReceiverRule> receivers) {
  CoreOptions options;
  options.receivers = std::move(receivers);
  return options;
}

model::ReceiverRule hears(const std::string& name, std::set<Happening> wants, bool is_default = true) {
  return {name, std::move(wants), is_default};
}

const std::set<Happening> kEndsOfRuns = {Happening::Failed, Happening::Lost};

struct LinesTold {
  std::vector<std::string> lines;
  explicit LinesTold(const Harness& term) {
    for (const auto& [id, row] : term.notifications) {
      lines.push_back(row.receiver + " " + std::string(name_of(row.what)) +
                      (row.job_name.empty() ? "" : " " + row.job_name) + ": " +
                      std::string(name_of(row.state)));
    }
  }
};
using Lines = std::vector<std::string>;

RunId fail_once(Harness& term, const std::string& job) {
  const RunId run = term.run_now(job);
  term.report(run, RunState::Failed);
  return run;
}

void tried(Harness& term, std::int64_t id, const std::string& error = {}) {
  term.handle(NotificationTried{id, error.empty(), error});
}

}  // namespace

TEST_CASE("notify: a failed run is told in the batch that ends it, to who wants to hear it") {
  Harness term({}, with_receivers({hears("ops", kEndsOfRuns), hears("lost", {Happening::Lost}),
                                   hears("dba", kEndsOfRuns, false)}));
  term.join(a_worker("w1"));
  term.apply(a_job().named("plain"));
  term.apply(a_job().named("named").notify({"dba"}));
  term.apply(a_job().named("quiet").notify({"nobody"}));
  const RunId run = fail_once(term, "plain");
  REQUIRE(term.last.changes.notifications.size() == 1);
  CHECK(term.last.changes.notifications.front().run == run);
  REQUIRE(term.told.size() == 1);
  CHECK(term.told.front().text.find("ended as failed") != std::string::npos);
  fail_once(term, "named");
  fail_once(term, "quiet");
  term.report(term.run_now("plain"), RunState::Succeeded);
  CHECK(LinesTold(term).lines == Lines{"ops failed plain: open", "dba failed named: open"});
}

TEST_CASE("notify: a job that names a receiver which the leader does not have is refused") {
  Harness term({}, with_receivers({hears("ops", kEndsOfRuns)}));
  ApplyJob event;
  event.token = Token{5};
  event.definition = a_job().named("other").notify({"opz"}).build();
  event.zone = std::make_shared<const model::ZoneRules>();
  term.handle(event);
  const auto* error = std::get_if<Error>(&term.last.replies.at(0).body);
  REQUIRE(error != nullptr);
  CHECK(error->message ==
        "notify: the leader knows no receiver 'opz'; name it under receivers in the masters' settings");
}

TEST_CASE(
    "notify: one of each receiver is on its way; what is refused is tried again after growing pauses") {
  Harness term({}, with_receivers({hears("ops", kEndsOfRuns)}));
  term.join(a_worker("w1"));
  term.apply(a_job().named("job"));
  fail_once(term, "job");
  fail_once(term, "job");
  REQUIRE(term.told.size() == 1);
  const std::int64_t first = term.told[0].id;
  tried(term, first, "status 503");
  REQUIRE(term.told.size() == 2);  // the other one, meanwhile
  const std::int64_t second = term.told[1].id;
  CHECK(second != first);
  tried(term, second);
  CHECK(term.notifications.at(second).state == Delivery::Delivered);
  CHECK(term.notifications.at(second).attempts == 1);
  CHECK(term.notifications.at(first).last_error == "status 503");
  term.advance(kFirstTryAgain - 1ms);
  CHECK(term.told.size() == 2);
  term.advance(1ms);
  REQUIRE(term.told.size() == 3);
  CHECK(term.told[2].id == first);
  CHECK(term.told[2].attempts == 1);
  tried(term, first, "status 503");
  term.advance(2 * kFirstTryAgain);
  REQUIRE(term.told.size() == 4);
  tried(term, first);
  CHECK(term.notifications.at(first).state == Delivery::Delivered);
  CHECK(term.notifications.at(first).attempts == 3);
  CHECK(term.notifications.at(first).last_error.empty());
  tried(term, first);  // a repeat
  CHECK(term.counter("notifications_delivered") == 2);
  CHECK(term.counter("notifications_open") == 0);
}

TEST_CASE("notify: it is given up after so many tries, and its pauses are bounded") {
  Harness term({}, with_receivers({hears("ops", kEndsOfRuns)}));
  term.join(a_worker("w1"));
  term.apply(a_job().named("job"));
  fail_once(term, "job");
  for (int i = 0; i < kTries; ++i) {
    REQUIRE(term.told.size() == static_cast<std::size_t>(i + 1));
    tried(term, term.told.back().id, "no");
    term.advance(kLastTryAgain);
  }
  CHECK(term.told.size() == kTries);
  CHECK(LinesTold(term).lines == Lines{"ops failed job: given_up"});
  CHECK(pause_before_try(1) == 1s);
  CHECK(pause_before_try(5) == 16s);
  CHECK(pause_before_try(11) == 10min);
  CHECK(pause_before_try(2'000'000'000) == 10min);
}

TEST_CASE("notify: a flood is bounded, and one says how many it stands for") {
  Harness term({}, with_receivers({hears("ops", kEndsOfRuns)}));
  term.join(a_worker("w1"));
  term.apply(a_job().named("job"));
  constexpr int kMore = 7;
  for (std::size_t i = 0; i < kOpen + kMore; ++i) fail_once(term, "job");
  CHECK(term.counter("notifications_open") == kOpen + 1);
  CHECK(term.counter("notifications_combined") == kMore);
  std::int64_t combined = 0;
  while (!term.told.empty() && term.counter("notifications_open") > 0) {
    const model::Notification sent = term.told.back();
    if (sent.what == Happening::Combined) combined += sent.count;
    tried(term, sent.id);
  }
  CHECK(combined == kMore);
  CHECK(term.counter("notifications_open") == 0);
}

TEST_CASE("notify: what was counted in one on its way is told by another") {
  NotificationTable table;
  model::Notification row;
  row.receiver = "ops";
  row.what = Happening::Combined;
  row.id = 1;
  row.count = 4;
  table.add(row, MonoTime{1s});
  REQUIRE(table.send_due(MonoTime{1s}) != nullptr);
  table.combined("ops")->count = 9;
  CHECK(table.line_of("ops")->sent_count == 4);
  CHECK(table.send_due(MonoTime{9s}) == nullptr);
}

TEST_CASE(
    "notify: a takeover goes on with what is open, by the same ids, and gives up what has no receiver") {
  Harness before({}, with_receivers({hears("ops", kEndsOfRuns), hears("old", kEndsOfRuns)}));
  before.join(a_worker("w1"));
  before.apply(a_job().named("job"));
  fail_once(before, "job");
  REQUIRE(before.told.size() == 2);
  Harness after(before.recovered(), with_receivers({hears("ops", kEndsOfRuns)}), Epoch{8});
  after.now = before.now;
  after.tick();
  REQUIRE(after.told.size() == 1);
  CHECK(before.notifications.contains(after.told.front().id));
  CHECK(after.told.front().receiver == "ops");
  REQUIRE(after.notifications.size() == 1);
  CHECK(after.notifications.begin()->second.receiver == "old");
  CHECK(after.notifications.begin()->second.state == Delivery::GivenUp);
}

TEST_CASE("notify: a new Term stores whom it knows") {
  Harness term({}, with_receivers({hears("ops", kEndsOfRuns)}));
  term.tick();
  REQUIRE(term.last.changes.receivers.size() == 1);
  CHECK(term.last.changes.receivers.front().epoch == term.epoch);
  term.tick();
  CHECK(term.last.changes.receivers.empty());
  Harness none;
  none.tick();
  CHECK(none.last.changes.receivers.empty());
}

TEST_CASE("notify: held ticks, a worker that is gone, a job that pauses itself and one that is stuck") {
  Harness term(
      {}, with_receivers({hears("ops", {Happening::TicksHeld, Happening::WorkerOffline,
                                        Happening::SelfPaused, Happening::Stuck, Happening::Missed})}));
  const auto key = term.join(a_worker("w1"));
  term.handle(HoldTicks{"the clock is wrong"});
  term.handle(HoldTicks{"the clock is still wrong"});
  term.handle(HoldTicks{""});
  term.apply(a_job().named("fails").pausing_after(2));
  fail_once(term, "fails");
  fail_once(term, "fails");
  term.apply(a_job().named("long").every(1s));
  term.advance(10s);
  CHECK(LinesTold(term).lines ==
        Lines{"ops ticks_held: open", "ops self_paused fails: open", "ops stuck long: open"});
  term.leave(key);
  CHECK(LinesTold(term).lines.back() == "ops worker_offline: open");
}

TEST_CASE("notify: ticks that nobody fired are told, those that a rule skips are not") {
  Harness term({}, with_receivers({hears("ops", {Happening::Missed})}));
  term.join(a_worker("w1"));
  term.apply(a_job().named("skips").every(10s).late(model::LatePolicy::Skip).grace(1s));
  term.jump_wall(1h);
  term.tick();
  REQUIRE(!term.notifications.empty());
  const model::Notification& row = term.notifications.begin()->second;
  CHECK(row.job_name == "skips");
  REQUIRE(row.moment);
  CHECK(*row.moment == term.gaps.front().from);
  CHECK(row.text == "ticks did not fire (late_skipped); rota job why skips tells more");
}
