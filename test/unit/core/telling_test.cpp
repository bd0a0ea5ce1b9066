// What people are told: workers that are away, runs on them, ticks that nobody decided, lines for the log.
#include <doctest/doctest.h>

#include <algorithm>

#include "harness.h"
#include "master/core/workers/departed_rules.h"
#include "master/core/workers/worker_words.h"

namespace rota::test::telling {

using namespace master::core;
using model::Reason;
using model::RunState;

namespace {

std::optional<WorkerView> shown(const Harness& h, const std::string& id = "w1") {
  for (const WorkerView& view : h.scheduler->snapshot(h.now).workers) {
    if (view.info->key.id == id) return view;
  }
  return std::nullopt;
}

std::string remarks(const Harness& h, const std::string& id = "w1") {
  const auto view = shown(h, id);
  return view ? remarks_on(*view, h.now.wall) : "not shown";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

int count(const Harness& h, std::string_view sentence) {
  return static_cast<int>(std::ranges::count(h.notices, sentence, &Notice::sentence));
}

std::string said(const Harness& h, std::string_view sentence, std::string_view name) {
  for (const Notice& notice : h.notices) {
    if (notice.sentence != sentence) continue;
    for (const auto& [each, value] : notice.keys) {
      if (each == name) return value;
    }
  }
  return "";
}

DrainWorker drain(Millis deadline) { return {Token{99}, "ann", "w1", true, deadline, "new disk"}; }

ReplyBody forget(Harness& h, const std::string& id) {
  h.handle(ForgetWorker{Token{98}, "ann", id});
  return h.last.replies.at(0).body;
}

}  // namespace

TEST_CASE("departed: a worker that vanished is shown as offline, with since when and why") {
  Harness h;
  const auto key = h.join(a_worker("w1"));
  h.advance(10s);
  h.leave(key);
  const WallTime left = h.now.wall;
  h.advance(5min);
  const auto view = shown(h);
  REQUIRE(view.has_value());
  CHECK(view->state == "offline");
  CHECK(view->left == left);
  CHECK(view->info->slots == 4);
  CHECK(has(remarks(h), "gone since " + second_text(left)));
  CHECK(has(remarks(h), "its node is gone"));
  CHECK(has(remarks(h), "for more than 120s"));
  h.advance(1h);
  CHECK(shown(h)->state == "dead");
  h.handle(WorkerSeen{a_worker("w1", 4, "i2")});
  CHECK(shown(h)->state == "registering");
}

TEST_CASE("departed: kept for so long and no longer, and one that was stopped for ten minutes") {
  CoreOptions options;
  options.keep_offline = 2h;
  Harness h({}, options);
  h.join(a_worker("w0"));
  const auto crashed = h.join(a_worker("w1"));
  model::WorkerInfo stopped = a_worker("w2");
  h.join(stopped);
  stopped.draining = true;
  stopped.stops_at = h.now.wall + 30s;
  h.handle(WorkerSeen{stopped});
  CHECK(has(remarks(h, "w2"), "told to stop"));
  h.leave(crashed);
  h.leave(stopped.key);
  CHECK(has(remarks(h, "w2"), "it was stopped"));
  h.advance(11min);
  h.tick();
  CHECK(shown(h, "w1").has_value());
  CHECK_FALSE(shown(h, "w2").has_value());
  h.advance(2h);
  h.tick();
  CHECK_FALSE(shown(h, "w1").has_value());
}

TEST_CASE("departed: of a thousand and more the ones that left first go first") {
  Harness h;
  for (std::size_t i = 0; i <= kDepartedMost; ++i) {
    h.leave(h.join(a_worker("w" + std::to_string(i))));
    h.now.wall += 1ms;
    h.now.mono += 1ms;
  }
  CHECK(h.scheduler->snapshot(h.now).workers.size() == kDepartedMost);
  CHECK_FALSE(shown(h, "w0").has_value());
}

TEST_CASE("departed: the next leader knows who was away, and notices who went in between") {
  Harness before;
  const auto away = before.join(a_worker("w1"));
  before.join(a_worker("w2"));
  before.join(a_worker("w3"));
  before.leave(away);
  const WallTime left = before.now.wall;
  Harness after(before.recovered(), {}, Epoch{8});
  after.now = before.now;
  after.handle(WorkerSeen{a_worker("w3")});
  CHECK(shown(after)->left == left);
  CHECK_FALSE(shown(after, "w2").has_value());
  after.advance(1s);
  after.listed();
  CHECK(shown(after)->left == left);
  REQUIRE(shown(after, "w2").has_value());
  CHECK(shown(after, "w2")->state == "offline");
  REQUIRE(!after.lives.empty());
  CHECK(after.lives.back().key.id == "w2");
  CHECK(after.lives.back().left.has_value());
  CHECK(shown(after, "w3")->state == "registering");
}

TEST_CASE("departed: forgotten by an operator, for the next leader too; not one that is here") {
  Harness h;
  const auto key = h.join(a_worker("w1"));
  CHECK(std::get<Error>(forget(h, "w1")).code == ErrorCode::Conflict);
  CHECK(std::get<Error>(forget(h, "w9")).code == ErrorCode::NotFound);
  h.leave(key);
  h.handle(drain(0s));
  CHECK(std::holds_alternative<WorkerForgotten>(forget(h, "w1")));
  CHECK_FALSE(shown(h).has_value());
  CHECK_FALSE(h.drains.at("w1").draining);
  CHECK(count(h, "worker forgotten") == 1);
  Harness after(h.recovered(), {}, Epoch{8});
  after.listed();
  CHECK_FALSE(shown(after).has_value());
}

TEST_CASE("away: a run whose worker does not answer says so, and when another attempt may follow") {
  Harness h;
  model::WorkerInfo info = a_worker("w1");
  info.lease = 4200ms;
  const auto key = h.join(info);
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.accept(run);
  for (int i = 0; i < 10; ++i) {
    h.advance(1s);
    REQUIRE(h.renew(key));
  }
  CHECK_FALSE(h.scheduler->snapshot(h.now).waiting.contains(run));
  const WallTime heard = h.now.wall;
  h.advance(3500ms);
  RunView view = h.view(run);
  CHECK(view.state == RunState::Running);
  CHECK(view.worker == "w1");
  CHECK(view.away_since == heard);
  REQUIRE(view.fence.has_value());
  CHECK(*view.fence >= heard + 6s);
  CHECK(*view.fence <= heard + 7s);
  CHECK(has(remarks(h), "has not answered since " + second_text(heard)));
  CHECK(count(h, "worker does not answer") == 1);
  h.advance(2500ms);
  h.leave(key);
  view = h.view(run);
  CHECK(view.reason == Reason::WaitsForFence);
  CHECK(view.away_since == h.now.wall);
  REQUIRE(view.fence.has_value());
  CHECK(*view.fence <= h.now.wall + 1s);
  CHECK(has(remarks(h), "the attempt there may be followed by others"));
  CHECK(count(h, "worker is gone") == 1);
  h.advance(1s);
  CHECK(count(h, "attempt lost") == 1);
  CHECK(said(h, "attempt lost", "then") == "its run is started again");
}

TEST_CASE("away: who answers again is no longer said to be silent") {
  Harness h;
  const auto key = h.join(a_worker("w1"));
  h.apply(a_job());
  h.accept(h.run_now("j"));
  REQUIRE(h.renew(key));
  h.advance(5s);
  CHECK(shown(h)->silent_since.has_value());
  REQUIRE(h.renew(key));
  CHECK_FALSE(shown(h)->silent_since.has_value());
  CHECK(count(h, "worker answers again") == 1);
}

TEST_CASE("figures: those of a renewal count, and a node written later does not put older ones back") {
  Harness h;
  model::WorkerInfo info = a_worker("w1");
  h.join(info);
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.accept(run);
  RenewAsked asked{Token{5}, info.key};
  asked.vitals.emplace().load_percent = 42;
  asked.vitals->sampled = h.now.wall;
  asked.usage.push_back({{run, 1}, 1000, 4096, 2, 50, h.now.wall});
  h.handle(asked);
  info.vitals.emplace().load_percent = 7;
  info.vitals->sampled = h.now.wall + 1h;
  h.handle(WorkerSeen{info});
  const auto view = shown(h);
  CHECK(view->vitals->load_percent == 42);
  REQUIRE(view->usage != nullptr);
  CHECK(view->usage->at(0).memory_bytes == 4096);
}

TEST_CASE("words: what a worker waited for at its start is not said of one that is online") {
  Harness h;
  model::WorkerInfo info = a_worker("w1");
  info.vitals.emplace().health = "starting: zookeeper: not registered; leader: none has said hello yet";
  h.join(info);
  CHECK(shown(h)->state == "online");
  CHECK(remarks(h).empty());
  info.vitals->health = "degraded: disk: 9 MiB free";
  h.handle(WorkerSeen{info});
  CHECK(remarks(h) == "degraded: disk: 9 MiB free");
}

TEST_CASE("words: a drain's deadline is told before it, and after it what happens") {
  Harness h;
  model::WorkerInfo info = a_worker("w1");
  info.drain_told = true;
  info.draining = true;
  h.join(info);
  h.handle(drain(10s));
  const std::string at = second_text(h.now.wall + 10s);
  CHECK(remarks(h) == "drained by ann: new disk; hands over at " + at);
  WorkerView view = *shown(h);
  view.running = 2;
  CHECK(has(remarks_on(view, h.now.wall + 11s),
            "its deadline passed at " + at + ": the 2 attempts there are being ended and handed over"));
  view.running = 0;
  CHECK(has(remarks_on(view, h.now.wall + 11s), "its deadline was " + at + "; nothing runs there any more"));
}

TEST_CASE("words: a worker that stops by a signal says so, with its deadline") {
  Harness h;
  model::WorkerInfo info = a_worker("w1");
  info.drain_told = false;
  h.join(info);
  info.draining = true;
  h.handle(WorkerSeen{info});
  CHECK(has(remarks(h), "it was told to stop on its own host and takes nothing new"));
  info.stops_at = h.now.wall + 30s;
  h.handle(WorkerSeen{info});
  CHECK(has(remarks(h), "hands over at " + second_text(*info.stops_at)));
  CHECK(count(h, "worker is stopping") == 1);
}

TEST_CASE("words: one is drained and one is gone, and both are named") {
  Harness h;
  h.join(a_worker("w1"));
  const auto gone = h.join(a_worker("w2"));
  h.handle(drain(0s));
  h.leave(gone);
  const WallTime left = h.now.wall;
  h.advance(4s);
  const auto workers = h.scheduler->snapshot(h.now).workers;
  const std::string who = who_takes_nothing(workers, "default", "");
  CHECK(has(who, "w1 is draining, drained by ann: new disk"));
  CHECK(has(who, "w2 is offline since " + second_text(left)));
  CHECK(who_takes_nothing(workers, "default", "w2").starts_with("w2 is offline"));
  CHECK(who_takes_nothing(workers, "other", "").empty());
}

TEST_CASE("waiting: a run's row names the present reason, also when that came later") {
  Harness h;
  const auto key = h.join(a_worker("w1"));
  h.apply(a_job().on_worker("w1"));
  h.handle(drain(0s));
  const RunId run = h.run_now("j");
  CHECK(h.reason(run) == Reason::WorkersDraining);
  h.leave(key);
  CHECK(h.view(run).reason == Reason::NamedWorkerAbsent);
  h.advance(2s);
  CHECK(h.reason(run) == Reason::NamedWorkerAbsent);
}

TEST_CASE("ticks: what an outage ate is missed, and not skipped for an overlap") {
  Harness h;
  h.join(a_worker("w1"));
  const JobId job = h.apply(a_job().every(1s));
  SUBCASE("within the grace, behind the first tick that is made up for") {
    h.now.wall += 8s;
    h.now.mono += 8s;
    h.tick();
    REQUIRE(h.gaps_of(job).size() == 1);
    CHECK(h.gaps_of(job)[0].count == 7);
  }
  SUBCASE("beyond the grace, beside a run from before") {
    h.advance(1s);
    h.now.wall += 1h;
    h.now.mono += 1h;
    h.tick();
    CHECK(h.runs_of(job).size() == 1);
  }
  for (const model::Gap& gap : h.gaps_of(job)) {
    const bool is_of_now = gap.from >= h.now.wall - 2s;  // a leader is there again
    CHECK((gap.reason == Reason::Missed || is_of_now));
  }
  CHECK(h.gaps_of(job)[0].reason == Reason::Missed);
  CHECK(h.gaps_of(job)[0].reference == h.runs_of(job)[0].value);
}

TEST_CASE("ticks: beside a run that came in time an overlap is told as one") {
  Harness h;
  h.join(a_worker("w1"));
  const JobId job = h.apply(a_job().every(1s));
  h.advance(10s);
  REQUIRE(!h.gaps_of(job).empty());
  for (const model::Gap& gap : h.gaps_of(job)) CHECK(gap.reason == Reason::OverlapSkipped);
}

TEST_CASE("losses: a lost attempt's row says when it had started") {
  Harness h;
  const auto key = h.join(a_worker("w1"));
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.accept(run);
  h.report_started(run);
  const WallTime started = h.now.wall;
  h.advance(1s);
  h.leave(key);
  h.advance(10s);
  REQUIRE(h.attempts.size() == 1);
  CHECK(h.attempts[0].outcome.state == RunState::Lost);
  CHECK(h.attempts[0].outcome.started == started);
}

TEST_CASE("log: one line for each edit of a job, with who, what and its version, and for drains") {
  Harness h;
  h.join(a_worker("w1"));
  CHECK(count(h, "worker is here") == 1);
  h.apply(a_job());
  h.apply(a_job().described("other"));
  h.pause("j");
  h.pause("j");
  h.pause("j", false);
  h.remove("j");
  CHECK(count(h, "job created") == 1);
  CHECK(said(h, "job created", "job") == "default/j");
  CHECK(said(h, "job created", "by") == "tester");
  CHECK(said(h, "job changed", "version") == "2");
  CHECK(count(h, "job paused") == 1);
  CHECK(said(h, "job paused", "why") == "maintenance");
  CHECK(count(h, "job resumed") == 1);
  CHECK(said(h, "job deleted", "why") == "not wanted");
  h.handle(drain(10s));
  h.handle({DrainWorker{Token{99}, "ann", "w1", false, 0s, ""}});
  CHECK(said(h, "drain started", "hands_over_at") == second_text(h.now.wall + 10s));
  CHECK(count(h, "drain ended") == 1);
}

TEST_CASE("workers: what a worker says of itself is shared by all snapshots until it says something else") {
  Harness h;
  model::WorkerInfo info = a_worker("w1");
  h.join(info);
  const auto first = shown(h);
  REQUIRE(first);
  h.handle(RenewAsked{Token{7}, info.key, model::WorkerVitals{.cpu_percent = 42}});
  const auto second = shown(h);
  CHECK(second->info.is_same_as(first->info));
  REQUIRE(second->vitals);
  CHECK(second->vitals->cpu_percent == 42);
  info.weight = 7;
  info.draining = true;
  h.handle(WorkerSeen{info});
  const auto third = shown(h);
  CHECK(third->info->weight == 7);
  CHECK(third->info->draining);
  CHECK(first->info->weight != 7);
}

}  // namespace rota::test::telling
