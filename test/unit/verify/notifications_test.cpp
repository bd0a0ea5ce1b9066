// P44: runs that failed, beside what receivers are told of them.
#include <doctest/doctest.h>

#include "history.h"

namespace rota::master::verify::test {
namespace {

model::ReceiverRow hears(const std::string& name, std::int64_t epoch, bool is_default = true) {
  return {Epoch{epoch}, {name, {model::Happening::Failed}, is_default}};
}

model::Notification told(const std::string& receiver, RunId run, std::int64_t id) {
  model::Notification row;
  row.id = run_id(1, id).value;
  row.receiver = receiver;
  row.what = model::Happening::Failed;
  row.run = run;
  return row;
}

void make_fail(History& history, WallTime tick) {
  model::RunProgress& progress = history.run_of(tick).progress;
  progress.state = progress.outcome.state = model::RunState::Failed;
  progress.outcome.exit_status = 3;
}

/// The runs of ticks 5 and 15 fail, in the Terms 1 and 2; in Term 2 nobody wants to hear of it.
History a_history_of_failures() {
  History out = a_true_history();
  out.rows.receivers = {hears("ops", 1), hears("dba", 1, false)};
  make_fail(out, at(5));
  make_fail(out, at(15));
  out.rows.notifications = {told("ops", out.run_of(at(5)).id, 900)};
  return out;
}

}  // namespace

TEST_CASE("verify: a failed run is told to who wanted to hear of it in its Term") {
  History history = a_history_of_failures();
  CHECK(red(look(history)) == "");
  CHECK(check_of(look(history), "P44").planned == 1);
  history.rows.receivers.push_back(hears("ops", 2));
  CHECK(red(look(history)) == "P44");
  history.rows.notifications.push_back(told("ops", history.run_of(at(15)).id, 901));
  CHECK(red(look(history)) == "");
  history.rows.notifications.erase(history.rows.notifications.begin());
  CHECK(red(look(history)) == "P44");
  CHECK(check_of(look(history), "P44").missing == 1);
}

TEST_CASE("verify: one notification may stand for failures that were too many") {
  History history = a_history_of_failures();
  history.rows.notifications[0].what = model::Happening::Combined;
  history.rows.notifications[0].run = RunId{};
  CHECK(red(look(history)) == "");
  history.rows.notifications[0].count = 0;
  CHECK(red(look(history)) == "P44");
}

TEST_CASE("verify: nothing is told twice, nor of a run that did not fail") {
  History history = a_history_of_failures();
  history.rows.notifications.push_back(told("ops", history.run_of(at(5)).id, 902));
  CHECK(red(look(history)) == "P44");
  history.rows.notifications.back() = told("ops", history.run_of(at(6)).id, 902);
  CHECK(red(look(history)) == "P44");
}

TEST_CASE("verify: a job that names receivers is told to these alone") {
  History history = a_history_of_failures();
  model::JobDefinition definition = *history.rows.versions[0].definition;
  definition.rules.notify = {"dba"};
  history.rows.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
  CHECK(red(look(history)) == "P44");
  history.rows.notifications.push_back(told("dba", history.run_of(at(5)).id, 902));
  CHECK(red(look(history)) == "");
}

}  // namespace rota::master::verify::test
