// P1: jobs that their rules end: `firings`, `until: success`, `pause_after_failures`.
#include <doctest/doctest.h>

#include "history.h"

namespace rota::master::verify::test {
namespace {

/// The true history has 16 runs of ticks, and a gap. All of them succeeded.
History history_with(const std::function<void(model::JobRules&)>& change) {
  History out = a_true_history();
  auto definition = *out.rows.versions[0].definition;
  change(definition.rules);
  out.rows.versions[0].definition = std::make_shared<const model::JobDefinition>(std::move(definition));
  return out;
}

/// Paused at that moment.
void end_at(History& history, WallTime moment, const std::string& principal = "rota") {
  history.rows.versions[0].valid_to = moment;
  model::JobVersionRow paused = history.rows.versions[0];
  paused.version = 2;
  paused.valid_from = moment;
  paused.valid_to.reset();
  paused.enabled = false;
  paused.principal = principal;
  history.rows.versions.push_back(paused);
  history.rows.jobs[0].version = 2;
  history.rows.jobs[0].state = model::JobState::Paused;
}

void end_as(History& history, WallTime tick, model::RunState state) {
  model::RunProgress& progress = history.run_of(tick).progress;
  progress.state = progress.outcome.state = state;
}

/// So that it had to wait until it was caught up.
void record_later(model::Run& run, Millis by) {
  run.recorded += by;
  *run.progress.dispatched += by;
  *run.progress.started += by;
  *run.progress.ended += by;
  run.progress.outcome.started += by;
  run.progress.outcome.ended += by;
}

bool tells(const Report& report, const std::string& text) {
  const Check& check = check_of(report, "P1");
  return red(report) == "P1" && check.examples.size() == 1 && check.examples[0].find(text) != std::string::npos;
}

}  // namespace

TEST_CASE("verify: a job that fires more often than `firings` allows is red") {
  History history = history_with([](model::JobRules& rules) { rules.firings = 15; });
  CHECK(tells(look(history), "it has fired 16 times, `firings` allows 15"));
  end_at(history, at(20));
  CHECK(tells(look(history), "it has fired 16 times, `firings` allows 15"));
}

TEST_CASE("verify: a job that goes on after its last firing is red, one that has ended is green") {
  History history = history_with([](model::JobRules& rules) { rules.firings = 16; });
  CHECK(tells(look(history), "ends the job (firings), and it goes on"));
  end_at(history, at(20));
  CHECK(red(look(history)) == "");
}

TEST_CASE("verify: a job that was ended before its last firing is red, as far as rows can tell") {
  History history = history_with([](model::JobRules& rules) { rules.firings = 17; });
  CHECK(red(look(history)) == "");
  SUBCASE("nothing is missing") {
    end_at(history, at(20));
    CHECK(tells(look(history), "ended after 16 of 17 firings"));
  }
  SUBCASE("another ended it: green") {
    end_at(history, at(20), "somebody");
    CHECK(red(look(history)) == "");
  }
  SUBCASE("retention has deleted runs: green") {
    end_at(history, at(20));
    history.gone[JobId{1}] = at(2);
    CHECK(red(look(history)) == "");
  }
}

TEST_CASE("verify: a run that stands for a frozen tick counts for `firings`") {
  History history = history_with([](model::JobRules& rules) { rules.firings = 16; });
  end_at(history, at(20));
  model::Run made_up = a_run(run_id(2, 90), at(20));
  made_up.kind = model::RunKind::AfterFreeze;
  made_up.scheduled = at(19);
  made_up.tick.reset();
  made_up.recorded = at(20);
  made_up.progress = {};
  made_up.progress.state = model::RunState::Cancelled;
  made_up.progress.epoch = Epoch{2};
  made_up.progress.ended = at(20);
  history.rows.new_runs.push_back(made_up);
  CHECK(tells(look(history), "it has fired 17 times, `firings` allows 16"));
}

TEST_CASE("verify: firings count anew once the job was resumed") {
  History history = history_with([](model::JobRules& rules) { rules.firings = 8; });
  end_at(history, at(8));
  model::JobVersionRow resumed = history.rows.versions[0];
  resumed.version = 3;
  resumed.valid_from = history.rows.versions[1].valid_from;
  resumed.valid_to.reset();
  history.rows.versions[1].valid_to = resumed.valid_from;
  history.rows.versions.push_back(resumed);
  history.rows.jobs[0].version = 3;
  for (int s = 13; s <= 20; ++s) history.run_of(at(s)).version = 3;
  history.rows.gaps[0].version = 3;
  CHECK(tells(look(history), "version 3: it has fired 8 times, which ends the job"));
  history.rows.new_runs.pop_back();
  history.rows.watermark = at(19);
  CHECK(red(look(history)) == "");
}

TEST_CASE("verify: a tick that fires after a success of a job with until: success is red") {
  History history = history_with([](model::JobRules& rules) { rules.until = model::Until::Success; });
  for (int s = 1; s <= 20; ++s) {
    if (s < 9 || s > 12) end_as(history, at(s), model::RunState::Failed);
  }
  CHECK(red(look(history)) == "");
  SUBCASE("in the middle") {
    end_as(history, at(15), model::RunState::Succeeded);
    CHECK(tells(look(history), "after a run had succeeded"));
  }
  SUBCASE("at its end: green") {
    end_as(history, at(20), model::RunState::Succeeded);
    CHECK(red(look(history)) == "");
  }
  SUBCASE("what was due when it ended was recorded with the end: green") {
    end_as(history, at(19), model::RunState::Succeeded);
    end_at(history, at(20) + Millis{20});
    CHECK(red(look(history)) == "");
  }
  SUBCASE("it waited to be caught up: green") {
    end_as(history, at(15), model::RunState::Succeeded);
    record_later(history.run_of(at(15)), Millis{2300});
    CHECK(red(look(history)) == "");
  }
}

TEST_CASE("verify: a tick that fires after as many failures as pause its job is red") {
  History history = history_with([](model::JobRules& rules) { rules.pause_after_failures = 2; });
  CHECK(red(look(history)) == "");
  end_as(history, at(3), model::RunState::Failed);
  SUBCASE("a success between them: green") {
    end_as(history, at(5), model::RunState::TimedOut);
    CHECK(red(look(history)) == "");
  }
  SUBCASE("in a row") {
    end_as(history, at(4), model::RunState::Lost);
    CHECK(tells(look(history), "2 runs in a row had failed"));
  }
  SUBCASE("with one between them that was cancelled") {
    end_as(history, at(4), model::RunState::Killed);
    end_as(history, at(5), model::RunState::Failed);
    CHECK(tells(look(history), "2 runs in a row had failed"));
  }
  SUBCASE("a success that was caught up may lie between them: green") {
    end_as(history, at(4), model::RunState::Failed);
    record_later(history.run_of(at(2)), Millis{2300});
    CHECK(red(look(history)) == "");
  }
  SUBCASE("in which order they ended is not known where they may overlap: green") {
    auto definition = *history.rows.versions[0].definition;
    definition.rules.overlap = model::Overlap::Allow;
    history.rows.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
    end_as(history, at(4), model::RunState::Failed);
    CHECK(red(look(history)) == "");
  }
}

}  // namespace rota::master::verify::test
