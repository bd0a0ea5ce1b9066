// Child jobs: which ends begin them, once and in the batch of the end, whoever leads; what keeps one from beginning
// and how that shows; circles; and so many ends at once that a batch does not take all of their children.
#include "master/core/graph/child_rules.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::ChildKey;
using model::NamedChild;
using model::Overlap;
using model::Reason;
using model::RunState;

namespace {

model::JobRules naming_all() {
  model::JobRules rules;
  rules.on_success = {"s"};
  rules.on_failure = {"f"};
  rules.on_end = {"e"};
  return rules;
}

std::string names_after(RunState ended) {
  std::string names;
  for (const NamedChild& child : children_after(naming_all(), ended)) names += child.name;
  return names;
}

/// The run of that child of this run; the row must be there, and name a run.
RunId child_of(const Harness& h, RunId parent, const std::string& name) {
  const auto found = h.children.find({parent, name});
  REQUIRE(found != h.children.end());
  REQUIRE(found->second.run != RunId{});
  return found->second.run;
}

Error refused(Harness& h, const JobBuilder& job) {
  ApplyJob event;
  event.token = Token{99};
  event.principal = "tester";
  event.definition = job.build();
  event.zone = std::make_shared<const model::ZoneRules>();
  h.handle(event);
  REQUIRE(!h.last.replies.empty());
  const auto* error = std::get_if<Error>(&h.last.replies.back().body);
  REQUIRE(error != nullptr);
  return *error;
}

RunId succeed(Harness& h, const std::string& job) {
  const RunId run = h.run_now(job);
  h.report(run, RunState::Succeeded);
  return run;
}

/// More jobs than a circle is looked for among: 10,000 leaves, and above them rows of jobs that name up to 16 of the row
/// below. The names of the highest row.
std::vector<std::string> apply_large_tree(Harness& h) {
  h.check_each = 5000;
  std::vector<std::string> row;
  for (int i = 0; i < 10'000; ++i) h.apply(a_job(row.emplace_back("leaf-" + std::to_string(i))));
  const std::size_t most = model::kMostChildren;
  for (int level = 0; row.size() > most; ++level) {
    std::vector<std::string> above;
    for (std::size_t i = 0; i < row.size(); i += most) {
      std::vector<std::string> names;
      for (std::size_t j = i; j < std::min(row.size(), i + most); ++j) names.push_back(row[j]);
      h.apply(a_job(above.emplace_back(fmt::format("row-{}-{}", level, i))).on_success(std::move(names)));
    }
    row = std::move(above);
  }
  return row;
}

}  // namespace

TEST_CASE("children: which key counts for which end") {
  CHECK(names_after(RunState::Succeeded) == "se");
  for (const RunState each : {RunState::Failed, RunState::TimedOut, RunState::Lost, RunState::KillFailed}) {
    CHECK(names_after(each) == "fe");
  }
  for (const RunState each : {RunState::Cancelled, RunState::Killed}) CHECK(names_after(each) == "e");
  for (const RunState each : {RunState::Skipped, RunState::Waiting, RunState::Queued, RunState::Dispatched,
                              RunState::Running}) {
    CHECK(names_after(each).empty());
  }
}

TEST_CASE("children: a run of each begins in the batch of the end, and knows its parent and root") {
  Harness h;
  h.join(a_worker("w", 8));
  const JobId c = h.apply(a_job("c"));
  const JobId b = h.apply(a_job("b").on_success({"c"}));
  h.apply(a_job("a").on_success({"b"}).on_failure({"c"}));
  const RunId first = h.run_now("a");
  h.pop_dispatches();
  h.report(first, RunState::Succeeded);
  CHECK(std::ranges::count(h.last.changes.updated_runs, first, &RunUpdate::id) == 1);
  REQUIRE(h.last.changes.children.size() == 1);  // beside the end
  const RunId second = child_of(h, first, "b");
  CHECK(h.run(second).job == b);
  CHECK(h.run(second).kind == model::RunKind::Child);
  CHECK(h.run(second).request_key == model::child_key(first, "b"));
  CHECK(h.run(second).principal == model::kChildPrincipal);
  CHECK(h.run(second).scheduled == h.run(first).scheduled);
  CHECK(h.children.at({first, "b"}) == model::ChildRow{first, "b", ChildKey::Success, first, 1, RunState::Succeeded,
                                                       h.now.wall, second, Reason::None});
  CHECK_FALSE(h.children.contains({first, "c"}));
  const auto sent = h.pop_dispatches();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].parent == first);
  CHECK(sent[0].parent_ended == RunState::Succeeded);
  h.report(second, RunState::Succeeded);
  const RunId third = child_of(h, second, "c");
  CHECK(h.run(third).job == c);
  CHECK(h.children.at({second, "c"}).parentage() == model::Parentage{second, first, 2, RunState::Succeeded});
  h.report(third, RunState::Succeeded);
  CHECK(h.runs.size() == 3);
}

TEST_CASE("children: begin after the last attempt alone") {
  Harness h;
  h.join(a_worker("w", 8));
  h.apply(a_job("c"));
  h.apply(a_job("a").retries(1, 1s).on_failure({"c"}));
  const RunId run = h.run_now("a");
  h.report(run, RunState::Failed);
  CHECK(h.children.empty());
  h.advance(2s);
  h.report(run, RunState::Failed);
  CHECK(h.run(child_of(h, run, "c")).scheduled == h.run(run).scheduled);
  h.report(run, RunState::Failed);  // once more, the answer was lost
  CHECK(h.children.size() == 1);
}

TEST_CASE("children: a tick is handed on as the logical time, down to grandchildren") {
  Harness h;
  h.join(a_worker("w", 8));
  h.apply(a_job("c"));
  h.apply(a_job("b").on_end({"c"}));
  const JobId a = h.apply(a_job("a").every(60s).on_end({"b"}));
  h.advance(61s);
  const RunId first = h.runs_of(a).at(0);
  h.advance(5s);
  h.report(first, RunState::Succeeded);
  const RunId second = child_of(h, first, "b");
  CHECK(h.run(second).scheduled == h.run(first).tick);
  CHECK_FALSE(h.run(second).tick);
  h.report(second, RunState::Failed);
  CHECK(h.run(child_of(h, second, "c")).scheduled == h.run(first).tick);
}

TEST_CASE("children: of cancelled runs only on_end counts, of skipped ones nothing") {
  Harness h;
  h.apply(a_job("s"));
  h.apply(a_job("f"));
  h.apply(a_job("e").overlap(Overlap::Allow));
  h.apply(a_job("a").on_success({"s"}).on_failure({"f"}).on_end({"e"}));
  const RunId waiting = h.run_now("a");  // nobody is here to take it
  const RunId skipped = h.run_now("a");
  CHECK(h.state(skipped) == RunState::Skipped);
  CHECK(h.children.empty());
  h.cancel(waiting);
  REQUIRE(h.state(waiting) == RunState::Cancelled);
  CHECK(h.children.size() == 1);
  CHECK(h.children.at({waiting, "e"}).ended == RunState::Cancelled);
}

TEST_CASE("children: a success that is reported late, of a run that waits for another attempt, is a success") {
  Harness h;
  const auto w = h.join(a_worker("w", 8));
  h.apply(a_job("s"));
  h.apply(a_job("f"));
  h.apply(a_job("a").on_success({"s"}).on_failure({"f"}).losses(3));
  const RunId run = h.run_now("a");
  const model::AttemptKey lost = h.attempt(run);
  h.accept(run);
  h.leave(w);
  h.advance(60s);
  REQUIRE_FALSE(model::is_final(h.state(run)));
  CHECK(h.children.empty());
  h.report(lost, w, RunState::Succeeded);
  REQUIRE(h.state(run) == RunState::Succeeded);
  child_of(h, run, "s");
  CHECK(h.children.size() == 1);
}

TEST_CASE("children: the version at the run's start decides, also after a takeover") {
  Harness h;
  h.join(a_worker("w", 8));
  h.apply(a_job("old"));
  h.apply(a_job("new"));
  h.apply(a_job("a").on_success({"old"}));
  const RunId run = h.run_now("a");
  h.apply(a_job("a").on_success({"new"}));
  SUBCASE("the same leader") {
    h.report(run, RunState::Succeeded);
    child_of(h, run, "old");
    CHECK(h.children.size() == 1);
  }
  SUBCASE("the next one") {
    Recovered from = h.recovered();
    from.older_rules.push_back({h.run(run).job, 1, std::make_shared<const KeptRules>(*a_job("a").on_success({"old"}).build())});
    Harness next(std::move(from), {}, Epoch{8});
    next.join(a_worker("w", 8, "i1"));
    next.report(h.attempt(run), {"w", "i1"}, RunState::Succeeded);
    if (!model::is_final(next.state(run))) {  // its worker did not say at once what it holds
      next.report(next.attempt(run), {"w", "i1"}, RunState::Succeeded);
    }
    child_of(next, run, "old");
    CHECK(next.children.size() == 1);
  }
}

TEST_CASE("children: what keeps a child from beginning shows as a skipped run, or as a row") {
  Harness h;
  h.join(a_worker("w", 8));
  h.apply(a_job("c"));
  h.apply(a_job("a").on_success({"c"}));
  SUBCASE("its job is paused") {
    h.pause("c");
    const RunId child = child_of(h, succeed(h, "a"), "c");
    CHECK(h.state(child) == RunState::Skipped);
    CHECK(h.reason(child) == Reason::JobPaused);
    CHECK(h.run(child).progress.detail == "paused by tester: maintenance");
  }
  SUBCASE("its namespace is frozen") {
    h.handle(BeginFreeze{Token{1}, "op", "default", h.now.wall + 60s, "why"});
    h.advance(1s);
    const RunId child = child_of(h, succeed(h, "a"), "c");
    CHECK(h.state(child) == RunState::Skipped);
    CHECK(h.reason(child) == Reason::Frozen);
  }
  SUBCASE("another run of it is unfinished") {
    h.run_now("c");
    const RunId child = child_of(h, succeed(h, "a"), "c");
    CHECK(h.state(child) == RunState::Skipped);
    CHECK(h.reason(child) == Reason::OverlapSkipped);
  }
  SUBCASE("the namespace has as many runs as it may have") {
    SetQuota quota;
    quota.token = Token{5};
    quota.principal = "op";
    quota.of = model::QuotaOf::Space;
    quota.name = "default";
    quota.firings = 1;
    REQUIRE(h.set_quota(quota));
    const RunId child = child_of(h, succeed(h, "a"), "c");
    CHECK(h.state(child) == RunState::Skipped);
    CHECK(h.reason(child) == Reason::NamespaceFirings);
  }
  SUBCASE("there is no such job any more") {
    const RunId run = h.run_now("a");
    h.apply(a_job("a"));
    h.remove("c");
    h.report(run, RunState::Succeeded);
    const model::ChildRow& row = h.children.at({run, "c"});
    CHECK(row.run == RunId{});
    CHECK(row.reason == Reason::NoSuchJob);
  }
}

TEST_CASE("children: wait behind others and replace them as any run does") {
  Harness h;
  h.join(a_worker("w", 8));
  h.apply(a_job("c").overlap(Overlap::Queue));
  h.apply(a_job("a").on_success({"c"}));
  const RunId other = h.run_now("c");
  const RunId child = child_of(h, succeed(h, "a"), "c");
  CHECK(h.state(child) == RunState::Waiting);
  h.report(other, RunState::Succeeded);
  CHECK(h.state(child) == RunState::Dispatched);
}

TEST_CASE("children: unknown names and circles are refused, with the way round") {
  Harness h;
  CHECK(refused(h, a_job("a").on_success({"b"})).message ==
        "on_success: there is no job \"b\" in namespace \"default\"; apply it first, or in the same files");
  CHECK(refused(h, a_job("a").on_end({"a"})).message ==
        "on_end: a -> a goes in a circle; take one of these names away");
  h.apply(a_job("a"));
  h.apply(a_job("b").on_failure({"a"}));
  h.apply(a_job("c").on_success({"b"}));
  CHECK(refused(h, a_job("a").on_success({"c"})).message ==
        "on_success: a -> c -> b -> a goes in a circle; take one of these names away");
  h.apply(a_job("d").on_success({"c", "b", "a"}));  // several ways down are no circle
  h.apply(a_job("b"));
  h.apply(a_job("a").on_success({"c"}));
}

TEST_CASE("children: a circle is looked for only where somebody names the job, and from its new names alone") {
  Harness h;
  const std::vector<std::string> below = apply_large_tree(h);
  h.apply(a_job("top").on_success(below));
  h.apply(a_job("above").on_success({"top"}));
  h.apply(a_job("top").priority(3).on_success(below));
  h.apply(a_job("top").on_success(below).on_failure({below[0]}));  // another key, no other name
  h.apply(a_job("top").on_success(below).on_end({"leaf-3"}));
  CHECK(refused(h, a_job("top").on_success(below).on_end({"above"})).message ==
        "on_end: top -> above -> top goes in a circle; take one of these names away");
  h.apply(a_job("x"));
  h.apply(a_job("y").on_success({"x"}));
  CHECK(refused(h, a_job("x").on_success({"top"})).message ==
        "on_success: more than 10000 jobs hang together by child jobs; use fewer");
  h.apply(a_job("y"));
  h.apply(a_job("x").on_success({"top"}));
}

TEST_CASE("children: ends that a child causes are remembered with it") {
  Harness h;
  h.join(a_worker("w", 1));
  const JobId c = h.apply(a_job("c").entries({"after_end 1h"}).overlap(Overlap::Replace).on_worker("elsewhere"));
  h.apply(a_job("a").on_success({"c"}));
  const RunId waiting = h.run_now("c");
  REQUIRE_FALSE(model::is_final(h.state(waiting)));
  h.advance(10s);
  const auto before = h.jobs.at(c).memory.due;
  child_of(h, succeed(h, "a"), "c");
  REQUIRE(h.state(waiting) == RunState::Cancelled);
  REQUIRE(h.jobs.at(c).memory.due);
  CHECK(h.jobs.at(c).memory.due != before);
  CHECK(std::ranges::count(h.last.changes.jobs, c, &model::Job::id) == 1);  // in the batch of the end
}

TEST_CASE("children: a job comes back only with child jobs that exist") {
  Harness h;
  h.apply(a_job("c"));
  const JobId a = h.apply(a_job("a").on_success({"c"}));
  h.remove("a");
  h.remove("c");
  UndeleteJob event;
  event.token = Token{55};
  event.principal = "me";
  event.job = h.jobs.at(a);
  event.version = h.versions.at({a, 1});
  event.zone = std::make_shared<const model::ZoneRules>();
  h.handle(event);
  const auto* error = std::get_if<Error>(&h.last.replies.at(0).body);
  REQUIRE(error != nullptr);
  CHECK(error->message ==
        "on_success: there is no job \"c\" in namespace \"default\"; apply it first, or in the same files");
  h.apply(a_job("c"));
  h.handle(event);
  REQUIRE(std::get_if<Error>(&h.last.replies.at(0).body) == nullptr);
  child_of(h, [&] {
    h.join(a_worker("w", 2));
    return succeed(h, "a");
  }(), "c");
}

TEST_CASE("children: a job that others name is not deleted") {
  Harness h;
  h.apply(a_job("c"));
  h.apply(a_job("a").on_success({"c"}));
  h.apply(a_job("b").on_end({"c"}));
  h.handle(DeleteJob{Token{4}, "tester", "default", "c", ""});
  const auto* error = std::get_if<Error>(&h.last.replies.at(0).body);
  REQUIRE(error != nullptr);
  CHECK(error->code == ErrorCode::Conflict);
  CHECK(error->message ==
        "job 'default/c' is a child job of a, b; take it out of their on_success, on_failure and on_end first");
  h.remove("a");
  h.apply(a_job("b"));
  h.remove("c");
  CHECK(h.scheduler->snapshot(h.now).jobs == 1);
}

TEST_CASE("children: a circle that came about all the same ends at depth 16") {
  Harness before;
  before.apply(a_job("a").overlap(Overlap::Allow));
  before.apply(a_job("b").overlap(Overlap::Allow).on_success({"a"}));
  Recovered from = before.recovered();
  for (RecoveredJob& job : from.jobs) {
    if (job.job.name == "a") job.rules = std::make_shared<const KeptRules>(*a_job("a").overlap(Overlap::Allow).on_success({"b"}).build());
  }
  Harness h(std::move(from), {}, Epoch{8});
  h.join(a_worker("w", 8));
  RunId run = h.run_now("a");
  std::string next = "b";
  for (std::int32_t depth = 1; depth <= model::kDeepestChild; ++depth, next = next == "b" ? "a" : "b") {
    h.report(run, RunState::Succeeded);
    CHECK(h.children.at({run, next}).depth == depth);
    run = child_of(h, run, next);
    CHECK(h.state(run) == RunState::Dispatched);
  }
  h.report(run, RunState::Succeeded);
  run = child_of(h, run, next);
  CHECK(h.state(run) == RunState::Skipped);
  CHECK(h.reason(run) == Reason::ChildTooDeep);
  CHECK(h.run(run).progress.detail == "17 runs below its root");
}

TEST_CASE("children: so many that one batch does not take them begin in the next ones, whoever leads") {
  Harness h;
  const std::int32_t parents = 100;
  h.join(a_worker("w", parents));
  std::vector<std::string> names;
  for (int i = 0; i < model::kMostChildren; ++i) names.push_back("c" + std::to_string(i));
  for (const std::string& name : names) h.apply(a_job(name).overlap(Overlap::Allow));
  h.apply(a_job("a").overlap(Overlap::Allow).on_success(names));
  std::vector<model::AttemptReport> reports;
  for (std::int32_t i = 0; i < parents; ++i) {
    model::AttemptReport& line = reports.emplace_back();
    line.key = h.attempt(h.run_now("a"));
    line.worker = {"w", "i1"};
    line.what = model::AttemptReport::What::Finished;
    line.outcome = ended_as(RunState::Succeeded);
  }
  h.handle(Reported{Token{77}, {"w", "i1"}, reports});
  CHECK(h.children.size() == 992);  // whole runs: 62 of 16
  CHECK(h.owed.size() == 38);
  CHECK(h.scheduler->next_wake(h.now) == Millis{0});
  SUBCASE("the same leader") {
    h.tick();
    CHECK(h.children.size() == 1600);
    CHECK(h.owed.empty());
  }
  SUBCASE("the next one") {
    Harness next(h.recovered(), {}, Epoch{8});
    CHECK(next.scheduler->next_wake(next.now) == Millis{0});
    next.tick();
    CHECK(next.owed.empty());
    std::size_t fresh = 0;
    for (const auto& [key, row] : next.children) fresh += h.children.contains(key) ? 0 : 1;
    CHECK(fresh == 608);
  }
}

TEST_CASE("children: a child of before is known by the next leader as a child, with its depth") {
  Harness h;
  h.join(a_worker("w", 8));
  h.apply(a_job("c"));
  h.apply(a_job("b").on_success({"c"}));
  h.apply(a_job("a").on_success({"b"}));
  const RunId first = succeed(h, "a");
  const RunId second = child_of(h, first, "b");
  Harness next(h.recovered(), {}, Epoch{8});
  next.handle(WorkerSeen{a_worker("w", 8)});
  next.listed();
  next.inventory({"w", "i1"}, {{h.attempt(second), model::HeldAttempt::State::Running, {}, {}}});
  next.report(second, RunState::Succeeded);
  CHECK(next.children.at({second, "c"}).parentage() == model::Parentage{second, first, 2, RunState::Succeeded});
}

TEST_CASE("children: no job names any while a master is registered that would begin none") {
  Recovered from;
  from.child_runs_known = false;
  Harness h(std::move(from));
  h.apply(a_job("c"));
  CHECK(refused(h, a_job("a").on_success({"c"})).code == ErrorCode::Unavailable);
  h.handle(ChildRunsKnown{});
  h.apply(a_job("a").on_success({"c"}));
}

TEST_CASE("children: start_within counts from the parent's end, not from the logical time") {
  Harness h;
  h.join(a_worker("w", 8));
  h.apply(a_job("c").expect_start(30s));
  h.apply(a_job("a").on_success({"c"}));
  const RunId run = h.run_now("a");
  h.advance(120s);
  h.report(run, RunState::Succeeded);
  child_of(h, run, "c");
  h.advance(60s);
  CHECK(std::ranges::none_of(h.late, [](const auto& row) { return row.what == model::ToldOnce::StartWithin; }));
}
