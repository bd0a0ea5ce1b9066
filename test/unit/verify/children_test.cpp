// P49: what ends of runs began, held against the child jobs that their versions name.
#include <doctest/doctest.h>

#include <utility>

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

/// Retention deletes both runs and their rows when one of these is asked.
class FadingStore final : public store::MemoryStore {
 public:
  enum class When { Children, ChildRows, OneRun };
  explicit FadingStore(When when) : when_(when) {}

  Result<std::vector<model::ChildRow>> children_of(const std::vector<RunId>& parents) override {
    if (when_ == When::Children) fade();
    return MemoryStore::children_of(parents);
  }
  Result<std::vector<model::ChildRow>> child_rows_of(const std::vector<RunId>& runs) override {
    if (when_ == When::ChildRows) fade();
    return MemoryStore::child_rows_of(runs);
  }
  Result<store::RunRow> get_run(RunId id) override {
    if (when_ == When::OneRun) fade();
    return MemoryStore::get_run(id);
  }
  /// As it was a moment ago: the parent goes on.
  Result<std::vector<model::Run>> runs_after(RunId after, std::int32_t limit) override {
    auto runs = MemoryStore::runs_after(after, limit);
    for (model::Run& run : *runs) {
      if (when_ == When::OneRun && run.id == root_id()) run.progress.state = RunState::Running;
    }
    return runs;
  }
  bool has_faded() const { return has_faded_; }

 private:
  void fade() {
    if (std::exchange(has_faded_, true)) return;
    std::vector<store::PastRun> runs(2);
    runs[0].run = root_id();
    runs[0].job = JobId{2};
    runs[1].run = child_id();
    runs[1].job = JobId{3};
    (void)erase_runs(runs);
  }
  When when_;
  bool has_faded_ = false;
};

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

TEST_CASE("verify: children whose rows are deleted with their runs while it looks are not missing") {
  for (const auto when : {FadingStore::When::Children, FadingStore::When::ChildRows, FadingStore::When::OneRun}) {
    CAPTURE(static_cast<int>(when));
    FadingStore memory(when);
    CHECK(red(look_in(memory, a_history_of_children())) == "");
    CHECK(memory.has_faded());
    CHECK(memory.runs_among({root_id(), child_id()})->empty());
  }
}

TEST_CASE("verify: since a moment, a child counts by when it was recorded, and not by its parent's tick") {
  History history = a_history_of_children();
  model::Run& child = run_in(history, child_id());
  child.recorded = at(30);
  child.progress = a_run(child_id(), at(30)).progress;
  history.rows.children[0].depth = 2;
  Request request;
  request.since = at(25);
  CHECK(red(look(history, request)) == "P49");
  request.since = at(31);
  CHECK(red(look(history, request)) == "");
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
