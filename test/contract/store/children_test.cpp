// Child jobs: rows for each name at the end of a run, what is owed, what a new Term gets of both, and how long the
// rows stay.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;
using model::ChildKey;
using model::ChildRow;
using model::OwedChildren;
using model::Reason;
using model::RunState;

namespace {

void apply_changes(const Backend& on, const core::Changes& changes) {
  const auto result = on.store->apply(Epoch{1}, changes);
  REQUIRE_MESSAGE(result.outcome == ApplyOutcome::Applied, result.detail);
}

ChildRow a_child(std::int64_t parent, const std::string& name, std::int64_t run, std::int64_t root, std::int32_t depth) {
  ChildRow row;
  row.parent = RunId{parent};
  row.name = name;
  row.key = depth % 2 == 0 ? ChildKey::Failure : ChildKey::End;
  row.root = RunId{root};
  row.depth = depth;
  row.ended = RunState::TimedOut;
  row.made = wall_from_ms(kBase + parent);
  row.run = RunId{run};
  if (run == 0) row.reason = Reason::NoSuchJob;
  return row;
}

model::Run a_run_of(const ChildRow& row, std::int64_t job) {
  model::Run run = a_manual_run(row.run.value, job);
  run.kind = model::RunKind::Child;
  run.principal = model::kChildPrincipal;
  run.request_key = model::child_key(row.parent, row.name);
  return run;
}

/// Run 100 with children 101 (which goes on) and none for "gone"; 101 has child 102.
std::vector<ChildRow> store_tree(const Backend& on) {
  const std::vector<ChildRow> rows = {a_child(100, "b", 101, 100, 1), a_child(100, "gone é'", 0, 100, 1),
                                      a_child(101, "b", 102, 100, 2)};
  core::Changes changes = new_job(10, "b");
  model::Run root = a_manual_run(100, 10);
  root.progress.state = RunState::Cancelled;
  model::Run below = a_run_of(rows[0], 10);
  below.progress.state = RunState::Cancelled;
  below.progress.reason = Reason::CancelledByUser;
  below.progress.ended = wall_from_ms(kBase + 5);
  changes.new_runs = {root, below, a_run_of(rows[2], 10)};
  changes.children = rows;
  apply_changes(on, changes);
  apply_changes(on, changes);  // a repeat changes nothing
  return rows;
}

PastRun past(std::int64_t run) { return {RunId{run}, JobId{10}, std::nullopt, true, WallTime{}, WallTime{}, Millis{0}}; }

}  // namespace

TEST_CASE("children: rows come back by parent, by run and by root, and stay as they were first") {
  ON_EACH_STORE(on, led_backends()) {
    const auto rows = store_tree(on);
    CHECK(on.reader->children_of({RunId{100}}) == std::vector{rows[0], rows[1]});
    CHECK(on.reader->children_of({RunId{100}, RunId{101}, RunId{7}}) == rows);
    CHECK(on.reader->children_of({})->empty());
    CHECK(on.reader->child_rows_of({RunId{102}, RunId{101}, RunId{100}}) == std::vector{rows[0], rows[2]});
    core::Changes other;
    other.children = {a_child(100, "b", 999, 5, 3)};
    apply_changes(on, other);
    CHECK(on.reader->children_of({RunId{100}}) == std::vector{rows[0], rows[1]});
    const auto family = *on.reader->family_of(RunId{100}, 10);
    REQUIRE(family.size() == 3);
    CHECK(family[0].child == rows[0]);
    CHECK(family[0].has_run);
    CHECK(family[0].state == RunState::Cancelled);
    CHECK(family[0].reason == Reason::CancelledByUser);
    CHECK(family[0].ended == wall_from_ms(kBase + 5));
    CHECK_FALSE(family[1].has_run);
    CHECK(family[2].child == rows[2]);
    CHECK(on.reader->family_of(RunId{100}, 2)->size() == 2);
    CHECK(on.reader->family_of(RunId{101}, 10)->empty());
  }
}

TEST_CASE("children: lists of runs are narrowed to the children of a run, or to all below a root") {
  ON_EACH_STORE(on, led_backends()) {
    store_tree(on);
    RunQuery query;
    query.parent = RunId{100};
    auto found = *on.reader->list_runs(query);
    REQUIRE(found.size() == 1);
    CHECK(found[0].run.id == RunId{101});
    query.parent.reset();
    query.root = RunId{100};
    found = *on.reader->list_runs(query);
    REQUIRE(found.size() == 2);
    CHECK(found[0].run.id == RunId{102});
    query.job = "b";
    CHECK(on.reader->list_runs(query)->size() == 2);
    query.job.clear();
    query.states = {RunState::Cancelled};
    found = *on.reader->list_runs(query);
    REQUIRE(found.size() == 1);
    CHECK(found[0].run.id == RunId{101});
    query.before = RunId{101};
    CHECK(on.reader->list_runs(query)->empty());
  }
}

TEST_CASE("children: a new Term gets the rows of unfinished ones, and what is owed until it is done") {
  ON_EACH_STORE(on, led_backends()) {
    const auto rows = store_tree(on);
    OwedChildren owed;
    owed.parent = RunId{100};
    owed.root = RunId{90};
    owed.depth = 4;
    owed.ended = RunState::Killed;
    owed.space = "shop";
    owed.logical = wall_from_ms(kBase + 77);
    owed.children = {{ChildKey::Success, "a b"}, {ChildKey::End, "c é'\\"}};
    OwedChildren other = owed;
    other.parent = RunId{101};
    core::Changes changes;
    changes.children_owed = {owed, other};
    apply_changes(on, changes);
    apply_changes(on, changes);
    auto recovered = on.office->recover();
    REQUIRE_MESSAGE(recovered.has_value(), (recovered ? "" : recovered.error().message));
    CHECK(recovered->children == std::vector{rows[2]});
    CHECK(recovered->children_owed == std::vector{owed, other});
    CHECK(on.reader->owed_among({RunId{101}, RunId{5}}) == std::vector{RunId{101}});
    CHECK(on.reader->owed_among({})->empty());
    core::Changes done;
    done.children_done = {RunId{100}};
    apply_changes(on, done);
    apply_changes(on, done);
    CHECK(on.office->recover()->children_owed == std::vector{other});
  }
}

TEST_CASE("children: a row stays while its parent or its run does") {
  ON_EACH_STORE(on, led_backends()) {
    const auto rows = store_tree(on);
    REQUIRE(on.history->erase_runs({past(101)}));
    CHECK(on.reader->children_of({RunId{100}, RunId{101}}) == rows);
    const auto family = *on.reader->family_of(RunId{100}, 10);
    REQUIRE(family.size() == 3);
    CHECK_FALSE(family[0].has_run);
    REQUIRE(on.history->erase_runs({past(100)}));  // 102 lives
    CHECK(on.reader->children_of({RunId{100}, RunId{101}}) == std::vector{rows[2]});
    core::RunUpdate ends = succeeded(a_run_of(rows[2], 10));
    core::Changes changes;
    changes.updated_runs = {ends};
    apply_changes(on, changes);
    REQUIRE(on.history->erase_runs({past(102)}));
    CHECK(on.reader->children_of({RunId{100}, RunId{101}})->empty());
  }
}
