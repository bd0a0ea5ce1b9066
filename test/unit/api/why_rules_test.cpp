// The checks behind `why`: for each the facts that stop a run or a moment there.
#include <doctest/doctest.h>

#include <algorithm>

#include "master/api/why_facts.h"
#include "master/api/why_rules.h"

using namespace rota;
using namespace rota::master::api;
using model::Reason;
using model::RunState;

namespace {

const WallTime kMoment = wall_from_ms(1'800'000'000'000);

RunWhyFacts a_why_run(RunState state, Reason reason = Reason::None) {
  RunWhyFacts facts;
  facts.run.id = RunId{(std::int64_t{7} << kIdCounterBits) + 5};
  facts.run.space = "shop";
  facts.run.progress.state = state;
  facts.run.progress.reason = reason;
  facts.job_name = "nightly";
  facts.rules.pool = "etl";
  facts.sentence = "Because.";
  return facts;
}

/// "passed passed STOPPED(command) - ?", by the checks' names.
const Check& check_of(const std::vector<Check>& checks, Step step) {
  const auto found = std::ranges::find(checks, step, &Check::step);
  REQUIRE_MESSAGE(found != checks.end(), std::string(name_of(step)) << " is missing");
  return *found;
}

/// The one check that stopped it; what is before passed, what is behind was not reached.
const Check& stop_in(const std::vector<Check>& checks) {
  const auto stop = std::ranges::find(checks, Verdict::Stopped, &Check::verdict);
  REQUIRE(stop != checks.end());
  for (auto each = checks.begin(); each != stop; ++each) CHECK(each->verdict == Verdict::Passed);
  for (auto each = stop + 1; each != checks.end(); ++each) CHECK(each->verdict == Verdict::NotReached);
  return *stop;
}

TickFacts a_planned_tick() {
  TickFacts tick;
  tick.at = kMoment;
  tick.now = kMoment + Millis{60'000};
  tick.is_planned = tick.is_recorded = true;
  return tick;
}

MomentFacts a_moment() {
  MomentFacts facts;
  facts.space = "shop";
  facts.job_name = "nightly";
  facts.grace = Millis{60'000};
  facts.by = DecidedBy{Epoch{7}, "m1", kMoment - Millis{1000}};
  return facts;
}

model::Gap a_why_gap(Reason reason, std::int64_t reference = 0) {
  model::Gap gap;
  gap.from = gap.to = kMoment;
  gap.count = 1;
  gap.reason = reason;
  gap.reference = reference;
  return gap;
}

struct ExpectedStop {
  Reason reason;
  Step step;
  const char* command;
};

}  // namespace

TEST_CASE("why: each reason to wait stops at its check, with a command that helps") {
  const std::vector<ExpectedStop> all = {
      {Reason::WaitsForRun, Step::Overlap, "rota --namespace shop run list --job nightly"},
      {Reason::Jitter, Step::Start, "rota run show 7696581394437"},
      {Reason::CaughtUp, Step::Start, "rota setting get catch_up.rate"},
      {Reason::RetryDelay, Step::Retry, "rota run timeline 7696581394437"},
      {Reason::WorkerUnreconciled, Step::LastWorker, "rota worker list"},
      {Reason::WorkerUnseen, Step::LastWorker, "rota worker list"},
      {Reason::PoolLimit, Step::PoolLimit, "rota pool show etl"},
      {Reason::NamespaceSlots, Step::NamespaceLimit, "rota namespace show shop"},
      {Reason::NoWorkerInPool, Step::Worker, "rota worker list"},
      {Reason::NamedWorkerAbsent, Step::Worker, "rota worker list"},
      {Reason::WorkersSettling, Step::Worker, "rota worker list"},
      {Reason::HandlerUnknown, Step::Handler, "rota worker list"},
      {Reason::WorkersDraining, Step::Open, "rota worker list"},
      {Reason::AllSlotsBusy, Step::Slot, "rota capacity"},
      {Reason::WaitsForSemaphore, Step::Semaphore, "rota --namespace shop semaphore list"}};
  for (const ExpectedStop& each : all) {
    const auto checks = checks_of_run(a_why_run(RunState::Queued, each.reason));
    const Check& stop = stop_in(checks);
    CHECK(stop.step == each.step);
    CHECK(stop.command == each.command);
    CHECK(stop.sentence.find("Because.") == 0);
  }
}

TEST_CASE("why: the command names what is in the way, where one thing is") {
  RunWhyFacts behind = a_why_run(RunState::Waiting, Reason::WaitsForRun);
  behind.run.progress.detail = "12";
  behind.rules.concurrency = 2;
  auto checks = checks_of_run(behind);
  CHECK(stop_in(checks).command == "rota run why 12");
  CHECK(stop_in(checks).sentence == "Because. So many runs of the job may be under way at once: 2.");
  RunWhyFacts drained = a_why_run(RunState::Queued, Reason::WorkersDraining);
  drained.drained_worker = "w1";
  drained.holders = {"worker w1 is draining"};
  checks = checks_of_run(drained);
  CHECK(stop_in(checks).command == "rota worker resume w1");
  CHECK(stop_in(checks).holders == drained.holders);
  RunWhyFacts tokens = a_why_run(RunState::Queued, Reason::WaitsForSemaphore);
  tokens.semaphore = "licences";
  checks = checks_of_run(tokens);
  CHECK(stop_in(checks).command == "rota --namespace shop semaphore show licences");
}

TEST_CASE("why: a run that waits for a slot says its place, and one in a retry delay until when") {
  RunWhyFacts queued = a_why_run(RunState::Queued, Reason::AllSlotsBusy);
  queued.place = Place{"etl", 3, 14, false, 70, 2};
  auto checks = checks_of_run(queued);
  CHECK(stop_in(checks).sentence ==
        "Because. It is 3rd of 14 in line for pool etl (priority 70; namespace shop has weight 2).");
  RunWhyFacts retry = a_why_run(RunState::Waiting, Reason::RetryDelay);
  retry.before_wait = kMoment;
  checks = checks_of_run(retry);
  CHECK(stop_in(checks).sentence == "Because. That is at 2027-01-15T08:00:00.000Z.");
}

TEST_CASE("why: a run at a worker has passed all, and its worker may be what it waits for") {
  RunWhyFacts sent = a_why_run(RunState::Dispatched);
  sent.run.progress.worker.id = "w1";
  sent.run.progress.attempt = 1;
  auto checks = checks_of_run(sent);
  CHECK(stop_in(checks).step == Step::Answer);
  CHECK(stop_in(checks).command == "rota worker show w1");
  sent.run.progress.state = RunState::Running;
  checks = checks_of_run(sent);
  CHECK(check_of(checks, Step::Answer).verdict == Verdict::Passed);
  CHECK(check_of(checks, Step::Answer).sentence == "Attempt 1 went to worker w1.");
  CHECK(check_of(checks, Step::End).verdict == Verdict::NotReached);
  sent.is_away = true;
  checks = checks_of_run(sent);
  CHECK(stop_in(checks).step == Step::LastWorker);
  CHECK(stop_in(checks).holders == std::vector<std::string>{"worker w1"});
  sent.is_away = false;
  sent.run.progress.reason = Reason::WaitsForConfirmation;
  CHECK(stop_in(checks_of_run(sent)).step == Step::LastWorker);
}

TEST_CASE("why: an end that is no success is where it stopped; of one that was never sent nothing is made up") {
  RunWhyFacts failed = a_why_run(RunState::Failed, Reason::ExitStatus);
  failed.run.progress.attempt = 2;
  CHECK(stop_in(checks_of_run(failed)).step == Step::End);
  CHECK(stop_in(checks_of_run(failed)).command == "rota run logs 7696581394437");
  failed.run.progress.state = RunState::Succeeded;
  for (const Check& check : checks_of_run(failed)) CHECK(check.verdict == Verdict::Passed);
  const RunWhyFacts cancelled = a_why_run(RunState::Cancelled, Reason::CancelledByUser);
  const auto checks = checks_of_run(cancelled);
  CHECK(check_of(checks, Step::Slot).verdict == Verdict::NotKnown);
  CHECK(check_of(checks, Step::End).verdict == Verdict::Stopped);
  CHECK(stop_in(checks_of_run(a_why_run(RunState::Skipped, Reason::OverlapSkipped))).step == Step::Overlap);
  CHECK(stop_in(checks_of_run(a_why_run(RunState::Skipped, Reason::NamespaceFirings))).step == Step::Firings);
}

TEST_CASE("why: of a run that the leader has not placed yet nothing is made up") {
  for (const Check& check : checks_of_run(a_why_run(RunState::Queued))) CHECK(check.verdict == Verdict::NotKnown);
}

TEST_CASE("why: a moment that did not fire stops at the check of its gap's reason") {
  const std::vector<ExpectedStop> all = {
      {Reason::OverlapSkipped, Step::Overlap, "rota run why 9"},
      {Reason::QueueFull, Step::Overlap, "rota run why 9"},
      {Reason::CoalescedInto, Step::Late, "rota run why 9"},
      {Reason::LateSkipped, Step::Late, "rota run why 9"},
      {Reason::LateBounded, Step::Late, "rota run why 9"},
      {Reason::Missed, Step::Leader, "rota run why 9"},
      {Reason::NamespaceUnfinished, Step::Firings, "rota namespace show shop"},
      {Reason::NamespaceFirings, Step::Firings, "rota namespace show shop"},
      {Reason::CalendarEdited, Step::Calendar, "rota --namespace shop job next nightly"},
      {Reason::Frozen, Step::Frozen, "rota freeze list"}};
  for (const ExpectedStop& each : all) {
    TickFacts tick = a_planned_tick();
    tick.gap = a_why_gap(each.reason, 9);
    const auto checks = checks_of_moment(tick, a_moment());
    CHECK(stop_in(checks).step == each.step);
    CHECK(stop_in(checks).command == each.command);
  }
}

TEST_CASE("why: a tick of an outage names who came, and how long after it") {
  TickFacts tick = a_planned_tick();
  tick.gap = a_why_gap(Reason::Missed);
  MomentFacts facts = a_moment();
  facts.by->since = kMoment + Millis{12'000};
  const auto checks = checks_of_moment(tick, facts);
  CHECK(stop_in(checks).step == Step::Leader);
  CHECK(stop_in(checks).sentence.find("Nobody who led recorded it: m1 (term 7) decided it, in office since "
                                      "2027-01-15T08:00:12.000Z, 12s after the moment.") == 0);
  CHECK(stop_in(checks).command == "rota --namespace shop job run nightly");
  facts.by->since = kMoment - Millis{1};
  CHECK(stop_in(checks_of_moment(tick, facts)).sentence.find("m1 (term 7) decided it.") == 0);
  facts.by->leader.clear();
  CHECK(stop_in(checks_of_moment(tick, facts)).sentence.find("the leader of term 7 decided it.") == 0);
}

TEST_CASE("why: a moment that is no tick stops at what keeps it from one") {
  TickFacts tick = a_planned_tick();
  tick.is_planned = false;
  CHECK(stop_in(checks_of_moment(tick, a_moment())).step == Step::Due);
  tick.why = MomentWords{"closed", "The day is closed.", "", "de", 3};
  auto checks = checks_of_moment(tick, a_moment());
  CHECK(stop_in(checks).step == Step::Calendar);
  CHECK(stop_in(checks).command == "rota --namespace shop calendar show de");
  CHECK(stop_in(checks).holders == std::vector<std::string>{"calendar de (version 3)"});
  tick.unready = MomentWords{"paused", "the job was paused then, by ann", "", "", 0};
  checks = checks_of_moment(tick, a_moment());
  CHECK(stop_in(checks).step == Step::Paused);
  CHECK(stop_in(checks).sentence == "The job was paused then, by ann.");
  CHECK(stop_in(checks).command == "rota --namespace shop job show nightly");
  tick.state = model::JobState::Paused;
  CHECK(stop_in(checks_of_moment(tick, a_moment())).command == "rota --namespace shop job resume nightly");
  tick.unready = MomentWords{"deleted", "the job was deleted then", "", "", 0};
  CHECK(stop_in(checks_of_moment(tick, a_moment())).step == Step::Job);
  tick.unready = {};
  tick.now = kMoment - Millis{1};
  tick.state_by = "ann";
  checks = checks_of_moment(tick, a_moment());
  CHECK(stop_in(checks).step == Step::Paused);
  CHECK(stop_in(checks).holders == std::vector<std::string>{"ann"});
}

TEST_CASE("why: what is due and not recorded stops at the leader, or where ticks are held") {
  TickFacts tick = a_planned_tick();
  tick.is_recorded = false;
  MomentFacts facts = a_moment();
  facts.by.reset();
  CHECK(stop_in(checks_of_moment(tick, facts)).step == Step::Leader);
  facts.hold = "the database went back";
  const auto held = checks_of_moment(tick, facts);
  CHECK(stop_in(held).step == Step::Held);
  CHECK(stop_in(held).sentence == "Ticks are held: the database went back");
  CHECK(stop_in(held).command == "rota cluster status");
  facts.hold.clear();
  facts.is_hold_known = false;
  const auto unheard = checks_of_moment(tick, facts);
  CHECK(stop_in(unheard).sentence == "No leader could be asked. It is due, and not recorded yet.");
}

TEST_CASE("why: what is to come has passed what is known, and a freeze that covers it stops it") {
  TickFacts tick = a_planned_tick();
  tick.now = kMoment - Millis{1000};
  tick.is_recorded = false;
  MomentFacts facts = a_moment();
  facts.by.reset();
  auto checks = checks_of_moment(tick, facts);
  CHECK(check_of(checks, Step::Calendar).verdict == Verdict::Passed);
  CHECK(check_of(checks, Step::Leader).verdict == Verdict::NotReached);
  CHECK(std::ranges::find(checks, Verdict::Stopped, &Check::verdict) == checks.end());
  model::Freeze freeze;
  freeze.id = 4;
  freeze.space = "shop";
  freeze.principal = "ann";
  freeze.why = "release";
  freeze.from = kMoment - Millis{5000};
  freeze.until = kMoment + Millis{5000};
  tick.freeze = freeze;
  checks = checks_of_moment(tick, facts);
  CHECK(stop_in(checks).step == Step::Frozen);
  CHECK(stop_in(checks).command == "rota freeze end --namespace shop");
  CHECK(stop_in(checks).holders == std::vector<std::string>{"freeze 4 by ann"});
  tick.now = kMoment + Millis{6000};
  tick.gap = a_why_gap(Reason::Frozen, 4);
  tick.is_recorded = true;
  tick.made_up = RunId{77};
  checks = checks_of_moment(tick, facts);
  CHECK(stop_in(checks).command == "rota freeze list");
  CHECK(stop_in(checks).sentence.find("Run 77 stands for it.") != std::string::npos);
}

TEST_CASE("why: of what is not stored nothing is made up") {
  TickFacts tick = a_planned_tick();
  const auto checks = checks_of_moment(tick, a_moment());
  CHECK(check_of(checks, Step::Due).verdict == Verdict::Passed);
  CHECK(check_of(checks, Step::Leader).verdict == Verdict::NotKnown);
  CHECK(check_of(checks, Step::Firings).verdict == Verdict::NotKnown);
}

TEST_CASE("why: the checks of a moment that fired go on with those of its run, each once") {
  TickFacts tick = a_planned_tick();
  tick.run.emplace();
  tick.run->id = RunId{5};
  tick.run->recorded = kMoment + Millis{90'000};
  MomentFacts facts = a_moment();
  const auto checks = joined(checks_of_moment(tick, facts),
                             checks_of_run(a_why_run(RunState::Queued, Reason::AllSlotsBusy)));
  REQUIRE(checks.size() == kSteps);
  for (std::size_t i = 0; i < kSteps; ++i) CHECK(checks[i].step == static_cast<Step>(i));
  CHECK(stop_in(checks).step == Step::Slot);
  CHECK(check_of(checks, Step::Late).sentence ==
        "It was 1m30s late, more than its grace of 1m, and fired all the same (late: fire_once).");
}

TEST_CASE("why: checks go over the wire and back, without what a newer leader may add") {
  auto checks = checks_of_run(a_why_run(RunState::Queued, Reason::AllSlotsBusy));
  auto sent = to_wire(checks);
  CHECK(from_wire(sent) == checks);
  thrift::WhyCheck newer;
  newer.__set_name("moon");
  newer.__set_verdict("stopped");
  sent.push_back(newer);
  CHECK(from_wire(sent) == checks);
}

TEST_CASE("why: who decided is the Term in the run's id") {
  CHECK(epoch_of(RunId{(std::int64_t{7} << kIdCounterBits) + 5}) == Epoch{7});
  CHECK(epoch_of(RunId{(std::int64_t{8} << kIdCounterBits) - 1}) == Epoch{7});
}
