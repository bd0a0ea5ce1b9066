// What needs somebody now: which facts are told, how urgent they are, and with which command.
#include "api_setup.h"

#include <algorithm>

#include "master/api/attention_rules.h"
#include "master/core/workers/worker_words.h"

namespace rota::master::api::test {
namespace {

using model::Reason;
using model::RunState;

core::WorkerView a_worker(const std::string& id, const std::string& state, const std::string& why = "") {
  model::WorkerInfo info;
  info.key.id = id;
  core::WorkerView view;
  view.info = core::SharedInfo(std::move(info));
  view.state = state;
  view.why = why;
  return view;
}

store::RunRow row_of(std::int64_t id, RunState state, Reason reason, const std::string& job = "nightly") {
  store::RunRow row;
  row.run = a_run(id, state);
  row.run.progress.reason = reason;
  row.job_name = job;
  return row;
}

/// "level kind subject: command", one line each.
std::string lines(const AttentionFacts& facts) {
  std::string out;
  for (const auto& item : attention_of(facts)) {
    out += item.level + " " + item.kind + " " + item.subject + ": " + item.command + "\n";
  }
  return out;
}

AttentionFacts quiet() {
  AttentionFacts facts;
  facts.now = kNow;
  facts.space = "default";
  facts.health = {{"database", "ok"}};
  return facts;
}

}  // namespace

TEST_CASE("attention: a pool that has been short of slots for a while is told") {
  AttentionFacts facts = quiet();
  facts.shortages.push_back({"etl", kNow - Millis{900'000}, "9.0 of 10 slots of pool etl are in use"});
  CHECK(lines(facts) == "warning capacity etl: rota capacity\n");
  CHECK(attention_of(facts).at(0).since_ms == to_ms(kNow) - 900'000);
}

TEST_CASE("attention: notifications that were given up are told, by receiver") {
  model::Notification lost;
  lost.receiver = "desk";
  lost.state = model::Delivery::GivenUp;
  lost.settled = kNow - Millis{1000};
  lost.last_error = "no answer";
  model::Notification older = lost, delivered = lost, open = lost, long_ago = lost;
  older.settled = kNow - Millis{5000};
  older.last_error = "refused";
  delivered.state = model::Delivery::Delivered;
  open.state = model::Delivery::Open;
  long_ago.settled = kNow - Millis{90'000};
  AttentionFacts facts = quiet();
  facts.given_up = given_up_since({lost, older, delivered, open, long_ago}, kNow - Millis{60'000});
  CHECK(lines(facts) == "warning notify desk: rota notify list\n");
  const auto item = attention_of(facts).at(0);
  CHECK(item.sentence == "2 notifications could not be delivered and were given up: no answer.");
  CHECK(item.count == 2);
  CHECK(item.since_ms == to_ms(kNow) - 1000);
}

TEST_CASE("attention: a hook that is given up, or fails again and again, is told") {
  core::ScaleView view;
  view.pool = "etl";
  view.wanted = 5;
  view.here = 2;
  model::ScaleChange row;
  row.hook = "k8s";
  row.state = model::HookState::GivenUp;
  row.attempts = 60;
  row.last_error = "status 503";
  row.made = kNow - Millis{1000};
  AttentionFacts facts = quiet();
  const auto lines_with = [&](model::HookState state, std::int32_t attempts) {
    core::Snapshot snapshot;
    row.state = state;
    row.attempts = attempts;
    view.newest = row;
    snapshot.scaling = {view};
    AttentionFacts now = facts;
    now.snapshot = std::make_shared<const core::Snapshot>(std::move(snapshot));
    return std::pair(lines(now), attention_of(now));
  };
  const auto [told, items] = lines_with(model::HookState::GivenUp, 60);
  CHECK(told == "error autoscale etl: rota autoscale changes etl\n");
  CHECK(items.at(0).sentence ==
        "5 workers are wanted, 2 are there, and hook k8s has failed 60 times and was given up: status 503.");
  CHECK(lines_with(model::HookState::Open, 5).first == "warning autoscale etl: rota autoscale changes etl\n");
  CHECK(lines_with(model::HookState::Open, 4).first.empty());
  CHECK(lines_with(model::HookState::Delivered, 60).first.empty());
}

TEST_CASE("attention: waits for limits and tokens are told when they take long") {
  for (const Reason reason : {Reason::PoolLimit, Reason::NamespaceSlots, Reason::WaitsForSemaphore}) {
    CHECK(may_take_long(reason));
    CHECK_FALSE(needs_help(reason));
  }
  CHECK_FALSE(may_take_long(Reason::RetryDelay));
}

TEST_CASE("attention: a child waits since its parent's end, and not since the logical time that it was given") {
  for (const model::RunKind kind : {model::RunKind::Manual, model::RunKind::Child}) {
    AttentionFacts facts = quiet();
    WaitingRuns waiting;
    waiting.oldest = row_of(9, RunState::Queued, Reason::NoWorkerInPool);
    waiting.oldest.run.kind = kind;
    waiting.oldest.run.scheduled = kNow - Millis{3'600'000};
    waiting.oldest.run.recorded = kNow - Millis{60'000};
    waiting.runs = 1;
    facts.waiting = {waiting};
    const std::int64_t ago = kind == model::RunKind::Child ? 60'000 : 3'600'000;
    CHECK(attention_of(facts).at(0).since_ms == to_ms(kNow) - ago);
  }
}

TEST_CASE("attention: nothing is told when all is well") {
  AttentionFacts facts = quiet();
  core::Snapshot snapshot;
  snapshot.watermark = kNow;
  snapshot.workers = {a_worker("w1", "online"), a_worker("w2", "offline", std::string(core::kWasStopped))};
  snapshot.workers[1].left = kNow;
  facts.snapshot = std::make_shared<core::Snapshot>(snapshot);
  CHECK(lines(facts).empty());
}

TEST_CASE("attention: errors come first, then warnings, each with a command") {
  AttentionFacts facts = quiet();
  core::Snapshot snapshot;
  snapshot.watermark = kNow;
  snapshot.tick_hold = "the clock differs";
  snapshot.workers = {a_worker("w1", "offline", "its session ended"), a_worker("w2", "draining")};
  snapshot.workers[0].left = kNow - Millis{5000};
  snapshot.workers[1].drain = model::WorkerDrain{};
  snapshot.workers[1].drain->principal = "ann";
  facts.snapshot = std::make_shared<core::Snapshot>(snapshot);
  FailedJob failed;
  failed.newest = row_of(7, RunState::Failed, Reason::ExitStatus);
  failed.runs = 3;
  facts.failed = {failed};
  facts.missed = {{"late", Reason::Missed, 0, 2, kNow, kNow}};
  store::GapSum skipped{"slow", Reason::OverlapSkipped, 4, 9, kNow, kNow};
  facts.stuck = {{skipped, row_of(4, RunState::Running, Reason::None, "slow")}};
  facts.health.emplace_back("disk", "full");
  CHECK(lines(facts) ==
        "error stuck slow: rota run why 4\n"
        "error health disk: rota cluster status\n"
        "error held : rota cluster status\n"
        "warning missed late: rota job gaps late\n"
        "warning worker w1: rota worker show w1\n"
        "warning failed nightly: rota run why 7\n"
        "info worker w2: rota worker show w2\n");
}

TEST_CASE("attention: a job that has succeeded since is information, one that paused itself is an error") {
  AttentionFacts facts = quiet();
  facts.space = "shop";
  FailedJob well;
  well.newest = row_of(7, RunState::Failed, Reason::ExitStatus, "well");
  well.runs = 1;
  well.has_succeeded = true;
  FailedJob paused = well;
  paused.newest = row_of(8, RunState::Failed, Reason::ExitStatus, "paused");
  paused.has_succeeded = false;
  paused.paused_why = "3 runs in a row did not succeed";
  facts.failed = {well, paused};
  CHECK(lines(facts) ==
        "error failed paused: rota --namespace shop job resume paused\n"
        "info failed well: rota run why 7\n");
  const auto items = attention_of(facts);
  CHECK(items[0].sentence ==
        "Run 8 is failed (exit_status). The job is paused: 3 runs in a row did not succeed.");
  CHECK(items[1].sentence == "Run 7 is failed (exit_status). It has succeeded since.");
}

TEST_CASE("attention: a calendar of another namespace is shown there") {
  AttentionFacts facts = quiet();
  core::Snapshot snapshot;
  snapshot.watermark = kNow;
  snapshot.calendars_ending.push_back({"shop", "de", {}, kNow, true, 2});
  facts.snapshot = std::make_shared<core::Snapshot>(snapshot);
  CHECK(lines(facts) == "warning calendar shop/de: rota --namespace shop calendar show de\n");
}

TEST_CASE("attention: what was cancelled or replaced is no failure") {
  model::RunProgress progress;
  progress.state = RunState::Killed;
  progress.reason = Reason::CancelledByUser;
  CHECK_FALSE(is_bad_end(progress));
  progress.reason = Reason::ReplacedBy;
  CHECK_FALSE(is_bad_end(progress));
  progress.reason = Reason::MemoryExceeded;
  CHECK(is_bad_end(progress));
  progress.state = RunState::Succeeded;
  CHECK_FALSE(is_bad_end(progress));
}

TEST_CASE("attention: a master that knows no leader tells what is stored, and that the rest is missing") {
  Stored stored({a_run(5, RunState::Failed), a_run(6, RunState::Succeeded), a_run(7, RunState::Running)});
  core::Changes rows;
  model::Gap gap;
  gap.job = JobId{1};
  gap.version = 1;
  gap.epoch = Epoch{1};
  gap.from = gap.to = kNow;
  gap.count = 4;
  gap.reason = Reason::OverlapSkipped;
  gap.reference = 7;
  rows.gaps = {gap};
  stored.put(rows);
  TestMaster master(stored.memory, false);
  const auto report = master.ask([](auto& client) {
    thrift::AttentionReport out;
    client.attention(out, {}, {});
    return out;
  });
  REQUIRE(report);
  CHECK(report->age_ms == -1);
  REQUIRE(report->items.size() == 3);
  CHECK(report->items[0].subject == "leader");
  CHECK(report->items[1].kind == "stuck");
  CHECK(report->items[1].run == 7);
  CHECK(report->items[1].count == 4);
  CHECK(report->items[2].kind == "failed");
  CHECK(report->items[2].run == 5);
}

TEST_CASE("attention: the leader groups runs that wait by their reason, and leaves short waits out") {
  Stored stored({a_run(5, RunState::Queued), a_run(6, RunState::Queued), a_run(7, RunState::Queued)});
  TestMaster master(stored.memory);
  core::Snapshot snapshot;
  snapshot.taken = snapshot.watermark = kNow;
  core::RunView view{RunState::Queued, Reason::NoWorkerInPool, ""};
  snapshot.waiting.add(RunId{5}, view);
  snapshot.waiting.add(RunId{6}, view);
  view.reason = Reason::AllSlotsBusy;
  snapshot.waiting.add(RunId{7}, view);
  master.leader.view = std::make_shared<core::Snapshot>(snapshot);
  const auto told = [&] {
    std::string out;
    const auto report = master.ask([](auto& client) {
      thrift::AttentionReport answer;
      client.attention(answer, {}, {});
      return answer;
    });
    REQUIRE(report);
    for (const auto& item : report->items) {
      out += item.level + " " + item.kind + " " + std::to_string(item.count) + "; ";
    }
    return out;
  };
  CHECK(told() == "error waits 2; ");
  master.clock.advance(kLongWait);
  CHECK(told() == "error waits 2; warning waits 1; ");
}

}  // namespace rota::master::api::test
