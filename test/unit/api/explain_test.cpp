#include <doctest/doctest.h>

#include "master/api/explain_rules.h"

namespace rota::master::api {

TEST_CASE("explain: every reason has a sentence, with the pool where it matters") {
  for (int i = 1; i <= static_cast<int>(model::Reason::CalendarEdited); ++i) {
    const auto text =
        sentence_for(model::RunState::Waiting, static_cast<model::Reason>(i), "", "pool-7");
    CHECK_MESSAGE(text.size() > 30, text);
  }
  CHECK(sentence_for(model::RunState::Cancelled, model::Reason::CancelledByUser, "", "p") ==
        "It was cancelled before it started.");
  CHECK(sentence_for(model::RunState::Queued, model::Reason::NoWorkerInPool, "", "pool-7")
            .find("pool-7") != std::string::npos);
  CHECK(sentence_for(model::RunState::Waiting, model::Reason::WaitsForRun, "run 5", "p")
            .find("(run 5)") != std::string::npos);
  CHECK(sentence_for(model::RunState::Skipped, model::Reason::OverlapSkipped, "5", "p")
            .find("(run 5)") != std::string::npos);
}

namespace {

const WallTime kNoon = wall_from_ms(1'800'000'000'000);

core::RunView running_on_a_silent_worker() {
  core::RunView run;
  run.state = model::RunState::Running;
  run.worker = "w1";
  run.away_since = kNoon - Millis{4000};
  run.fence = kNoon + Millis{2000};
  return run;
}

core::WorkerView worker(const char* id, const char* state) {
  core::WorkerView view;
  view.info.change().key.id = id;
  view.state = state;
  return view;
}

}  // namespace

TEST_CASE("explain: of a run whose worker does not answer nobody says that it runs") {
  core::RunView run = running_on_a_silent_worker();
  model::JobRules rules;
  CHECK(sentence_now(run, {}, rules, kNoon) ==
        "Its worker w1 has not answered since 2027-01-15T07:59:56Z, so nobody knows whether it still runs. Should "
        "the worker stay away, another attempt starts at about 2027-01-15T08:00:02Z.");
  rules.loss = model::LossPolicy::Never;
  CHECK(sentence_now(run, {}, rules, kNoon).find("the run ends as lost (loss: never) at about") != std::string::npos);
  run.reason = model::Reason::WaitsForFence;
  rules.loss = model::LossPolicy::Rerun;
  CHECK(sentence_now(run, {}, rules, kNoon) ==
        "Its worker w1 is gone since 2027-01-15T07:59:56Z; another attempt starts at about 2027-01-15T08:00:02Z, "
        "when the lost attempt must have ended.");
  CHECK(sentence_now(run, {}, rules, kNoon + Millis{3000}).find("as soon as ZooKeeper has confirmed") !=
        std::string::npos);
}

TEST_CASE("explain: of a run that waits for a word about its worker nobody says that it runs") {
  for (const auto reason : {model::Reason::WaitsForConfirmation, model::Reason::WorkerUnseen}) {
    const std::string text = sentence_for(model::RunState::Running, reason, "", "p");
    CHECK(text.find("Nobody knows whether it still runs. Its ") == 0);
  }
  CHECK(sentence_for(model::RunState::Running, model::Reason::None, "", "p") == "It is running.");
}

TEST_CASE("explain: a pool where one is drained and one is gone names both, and says not that all are drained") {
  std::vector<core::WorkerView> workers = {worker("w1", "draining"), worker("w2", "offline"), worker("w3", "offline")};
  workers[0].drain = model::WorkerDrain{"w1", true, {}, "ann", "new disk", {}};
  workers[1].left = kNoon;
  workers[2].info.change().pool = "other";
  core::RunView run;
  run.state = model::RunState::Queued;
  run.reason = model::Reason::WorkersDraining;
  CHECK(sentence_now(run, workers, {}, kNoon) ==
        "No worker of pool \"default\" takes new runs: w1 is draining, drained by ann: new disk; w2 is offline since "
        "2027-01-15T08:00:00Z. Resume one (rota worker resume), or start another.");
  model::JobRules named;
  named.route = model::RouteKind::Named;
  named.worker = "w2";
  run.reason = model::Reason::NamedWorkerAbsent;
  CHECK(sentence_now(run, workers, named, kNoon) ==
        "The worker that the job names takes nothing new: w2 is offline since 2027-01-15T08:00:00Z. Start it, or "
        "change the job's route.");
}

}  // namespace rota::master::api
