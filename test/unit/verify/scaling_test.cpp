// P47: wanted numbers of workers within their limits, told, and nobody stopped who had something to do.
#include <doctest/doctest.h>

#include "history.h"
#include "master/verify/scale_check.h"

namespace rota::master::verify::test {
namespace {

using model::HookState;

model::ScaleChange a_change(std::int64_t number, std::int64_t after, HookState state = HookState::Delivered) {
  model::ScaleChange row;
  row.id = run_id(1, number).value;
  row.pool = "default";
  row.before = 1;
  row.after = after;
  row.reason = model::ScaleReason::Load;
  row.hook = "local";
  row.made = at(10);
  row.state = state;
  row.attempts = 1;
  return row;
}

model::QuotaRow limits(std::int32_t version, std::int64_t number, std::int64_t least, std::int64_t most) {
  model::QuotaRow row;
  row.name = "default";
  row.version = version;
  row.number = run_id(1, number).value;
  row.quota.min_workers = least;
  row.quota.max_workers = most;
  row.quota.hook = "local";
  return row;
}

}  // namespace

TEST_CASE("verify: a wanted number outside the limits of its moment is red") {
  History history = a_true_history();
  CHECK(check_of(look(history), "P47").planned == 0);
  history.rows.quotas = {limits(1, 100, 1, 2), limits(2, 200, 1, 5)};
  history.rows.scaling = {a_change(150, 2, HookState::Replaced), a_change(250, 5)};
  CHECK(look(history).ok);
  CHECK(check_of(look(history), "P47").planned == 2);
  history.rows.scaling[0].after = 3;   // not allowed before the second version
  const Report report = look(history);
  CHECK(red(report) == "P47");
  CHECK(check_of(report, "P47").examples[0].find("3 workers are wanted, allowed are 1 to 2") != std::string::npos);
}

TEST_CASE("verify: a change that nobody is told of is red") {
  struct {
    const char* what;
    HookState older, newer;
    bool is_fine;
  } const rows[] = {{"told", HookState::Delivered, HookState::Delivered, true},
                    {"being told", HookState::Replaced, HookState::Open, true},
                    {"given up", HookState::GivenUp, HookState::GivenUp, true},
                    {"forgotten", HookState::Open, HookState::Delivered, false},
                    {"replaced by nothing", HookState::Delivered, HookState::Replaced, false},
                    {"a hook that is none", HookState::Delivered, HookState::NoHook, false}};
  for (const auto& row : rows) {
    CAPTURE(row.what);
    History history = a_true_history();
    history.rows.scaling = {a_change(150, 2, row.older), a_change(250, 5, row.newer)};
    CHECK(look(history).ok == row.is_fine);
  }
  History history = a_true_history();
  history.rows.scaling = {a_change(150, 2)};
  history.rows.scaling[0].attempts = 0;
  CHECK(red(look(history)) == "P47");
}

TEST_CASE("verify: a worker that was named as stoppable while an attempt was unfinished there is red") {
  History history = a_true_history();
  model::Run& run = history.run_of(at(5));
  run.progress.outcome.started = *run.progress.dispatched;
  run.progress.outcome.ended = *run.progress.dispatched + Millis{30'000};
  run.progress.ended = run.progress.outcome.ended;
  model::ScaleChange row = a_change(150, 2);
  row.stoppable = {run.progress.worker};
  row.made = run.progress.outcome.ended + Millis{1};
  history.rows.scaling = {row};
  const auto found = check_of(look(history), "P47");
  CHECK(found.ok);
  CHECK(found.planned > 1);
  history.rows.scaling[0].made = *run.progress.dispatched + Millis{5};
  const auto wrong = check_of(look(history), "P47");
  CHECK_FALSE(wrong.ok);
  CHECK(wrong.examples[0].find("may be stopped") != std::string::npos);
  history.rows.scaling[0].stoppable[0].incarnation = "another";
  CHECK(check_of(look(history), "P47").ok);
}

}  // namespace rota::master::verify::test
