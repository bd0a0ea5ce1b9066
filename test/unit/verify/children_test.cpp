// P49: what ends of runs began, held against the child jobs that their versions name.
#include <doctest/doctest.h>

#include "history.h"

namespace rota::master::verify::test {
namespace {

using model::ChildKey;
using model::ChildRow;
using model::RunState;

RunId root_id() { return run_id(1, 100); }
RunId child_id() { return run_id(1, 110); }

model::Run by_hand(RunId id, JobId job) {
  model::Run run = a_run(id, at(5));
  run.job = job;
  run.kind = model::RunKind::Manual;
  run.tick.reset();
  return run;
}

/// Beside the job of ticks: job 2, whose version names "kid" on success and "gone" on any end; a run of it that
/// succeeded, with a run of job 3 ("kid"), and none of "gone".
History a_history_of_children() {
  History out = a_true_history();
  model::Job job = out.rows.jobs[0];
  model::JobVersionRow version = out.rows.versions[0];
  model::JobDefinition definition = *version.definition;
  definition.rules.schedule = {};
  definition.rules.overlap = model::Overlap::Allow;
  for (const std::int64_t id : {2, 3}) {
    job.id = version.job = JobId{id};
    job.name = definition.name = id == 2 ? "parent" : "kid";
    if (id == 2) definition.rules.on_success = {"kid"};
    if (id == 2) definition.rules.on_end = {"gone"};
    if (id == 3) definition.rules.on_success = definition.rules.on_end = {};
    version.definition = std::make_shared<const model::JobDefinition>(definition);
    out.rows.jobs.push_back(job);
    out.rows.versions.push_back(version);
  }
  out.rows.new_runs.push_back(by_hand(root_id(), JobId{2}));
  model::Run child = by_hand(child_id(), JobId{3});
  child.kind = model::RunKind::Child;
  child.principal = model::kChildPrincipal;
  child.request_key = model::child_key(root_id(), "kid");
  out.rows.new_runs.push_back(child);
  ChildRow row;
  row.parent = row.root = root_id();
  row.name = "kid";
  row.key = ChildKey::Success;
  row.depth = 1;
  row.ended = RunState::Succeeded;
  row.made = at(6);
  row.run = child_id();
  ChildRow none = row;
  none.name = "gone";
  none.key = ChildKey::End;
  none.run = RunId{};
  none.reason = model::Reason::NoSuchJob;
  out.rows.children = {row, none};
  return out;
}

model::Run& run_in(History& history, RunId id) {
  return *std::ranges::find(history.rows.new_runs, id, &model::Run::id);
}

}  // namespace

TEST_CASE("verify: children that are due are green, and counted") {
  const Report report = look(a_history_of_children());
  CHECK(red(report) == "");
  CHECK(check_of(report, "P49").planned == 3);  // two names, one run
  CHECK(check_of(report, "P49").fired == 1);
  CHECK(check_of(report, "P49").skipped == 1);
}

TEST_CASE("verify: a child that is due and neither there nor owed is red") {
  History history = a_history_of_children();
  history.rows.children.pop_back();
  CHECK(red(look(history)) == "P49");
  CHECK(check_of(look(history), "P49").missing == 1);
  model::OwedChildren owed;
  owed.parent = owed.root = root_id();
  owed.depth = 1;
  owed.ended = RunState::Succeeded;
  owed.space = "default";
  owed.children = {{ChildKey::End, "gone"}};
  history.rows.children_owed = {owed};
  CHECK(red(look(history)) == "");
}

TEST_CASE("verify: children of another end, without a cause, or too many are red") {
  History history = a_history_of_children();
  SUBCASE("its end names another child") {
    run_in(history, root_id()).progress.state = RunState::Failed;
    run_in(history, root_id()).progress.outcome.state = RunState::Failed;
  }
  SUBCASE("a name that is not due") {
    history.rows.children.push_back(history.rows.children[1]);
    history.rows.children.back().name = "other";
  }
  SUBCASE("its parent has not ended") {
    model::Run& run = run_in(history, root_id());
    run.progress = {};
    run.progress.state = RunState::Waiting;
    run.progress.epoch = Epoch{1};
  }
  SUBCASE("a run without a row") {
    model::Run other = run_in(history, child_id());
    other.id = run_id(1, 120);
    other.request_key += "2";
    history.rows.new_runs.push_back(other);
  }
  SUBCASE("a run of another cause") { run_in(history, child_id()).request_key = model::child_key(RunId{5}, "kid"); }
  SUBCASE("its run was never stored") { history.rows.children[0].run = run_id(1, 111); }
  SUBCASE("no run and no reason") { history.rows.children[1].reason = model::Reason::None; }
  SUBCASE("another key of the same job") { history.rows.children[1].key = ChildKey::Success; }
  SUBCASE("beyond the depth") { history.rows.children[0].depth = 17; history.rows.children[0].root = run_id(1, 50); }
  SUBCASE("another root") { history.rows.children[0].root = run_id(1, 50); }
  std::string found;
  for (const char c : red(look(history))) found += c;
  CHECK(found == "P49");
}

}  // namespace rota::master::verify::test
