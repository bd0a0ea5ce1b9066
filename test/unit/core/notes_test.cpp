#include <doctest/doctest.h>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using model::RunState;

namespace {

/// A report of this attempt that carries a note, alone or with its end.
master::core::Reported a_note(const Harness& h, model::AttemptKey key, const std::string& checkpoint,
                              std::optional<RunState> ended = {}) {
  model::AttemptReport line;
  line.key = key;
  line.worker = h.run(key.run).progress.worker;
  line.started = h.now.wall;
  line.note = model::RunNote{};
  line.note->percent = 40;
  line.note->checkpoint = checkpoint;
  if (ended) {
    line.what = model::AttemptReport::What::Finished;
    line.outcome = ended_as(*ended);
  }
  return {Token{900}, line.worker, {line}};
}

std::vector<std::string> checkpoints_in(const Harness& h) {
  std::vector<std::string> all;
  for (const auto& note : h.last.changes.notes) all.push_back(note.checkpoint.value_or("none"));
  return all;
}

}  // namespace

TEST_CASE("notes: what a run's newest attempt says is stored and acknowledged") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().retries(2, 1s));
  const RunId run = h.run_now("j");
  h.handle(a_note(h, h.attempt(run), "one"));
  REQUIRE(h.last.changes.notes.size() == 1);
  CHECK(h.last.changes.notes[0].run == run);
  CHECK(h.last.changes.notes[0].attempt == 1);
  CHECK(h.last.changes.notes[0].percent == 40);
  CHECK(checkpoints_in(h) == std::vector<std::string>{"one"});
  CHECK(h.last.replies.size() == 1);
  CHECK_FALSE(h.last.changes.empty());
  CHECK(h.counter("notes") == 1);
  h.advance(2s);  // "running" is written lazily
  CHECK(h.state(run) == RunState::Running);
}

TEST_CASE("notes: an older attempt's note is acknowledged and ignored") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job().retries(2, 1s));
  const RunId run = h.run_now("j");
  const model::AttemptKey first = h.attempt(run);
  SUBCASE("it comes with the end: still the newest attempt's") {
    h.handle(a_note(h, first, "last words", RunState::Failed));
    CHECK(checkpoints_in(h) == std::vector<std::string>{"last words"});
    CHECK(h.state(run) == RunState::Waiting);
  }
  SUBCASE("between two attempts the last one's still counts") {
    h.report(run, RunState::Failed);
    h.handle(a_note(h, first, "a little late"));
    CHECK(checkpoints_in(h) == std::vector<std::string>{"a little late"});
  }
  SUBCASE("after the next one began it does not") {
    h.report(run, RunState::Failed);
    h.advance(1s);
    REQUIRE(h.attempt(run).attempt == 2);
    h.handle(a_note(h, first, "too late"));
    CHECK(checkpoints_in(h).empty());
    CHECK(h.last.replies.size() == 1);
    CHECK(h.counter("stale_notes") == 1);
    h.handle(a_note(h, h.attempt(run), "two"));
    CHECK(checkpoints_in(h) == std::vector<std::string>{"two"});
  }
  SUBCASE("of a run that is over, neither") {
    h.report(run, RunState::Succeeded);
    h.handle(a_note(h, first, "too late"));
    CHECK(checkpoints_in(h).empty());
    CHECK(h.last.replies.size() == 1);
  }
}
