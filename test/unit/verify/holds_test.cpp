// P45: what was sent to workers while stored holds kept all attempts from them.
#include <doctest/doctest.h>

#include "history.h"
#include "master/verify/hold_check.h"

namespace rota::master::verify::test {
namespace {

model::WorkerHold a_hold(std::int64_t epoch, WallTime since, const std::string& worker) {
  model::WorkerHold hold;
  hold.number = run_id(epoch, 1000).value;
  hold.worker = worker;
  hold.pool = "default";
  hold.since = since;
  hold.until = since + Millis{60'000};
  return hold;
}

}  // namespace

TEST_CASE("verify: an attempt that was sent to an excluded worker is red, one of another Term says nothing") {
  History history = a_true_history();
  model::Run& run = history.run_of(at(5));
  const WallTime sent = *run.progress.dispatched;
  const std::string worker = run.progress.worker.id;
  CHECK(check_of(look(history), "P45").planned == 0);
  history.rows.holds.push_back(a_hold(1, sent - Millis{1}, worker));
  const Report report = look(history);
  CHECK(red(report) == "P45");
  CHECK(check_of(report, "P45").examples[0].find("which was excluded since 1 ms before") != std::string::npos);
  history.rows.holds[0] = a_hold(2, sent - Millis{1}, "nobody");
  CHECK(look(history).ok);
  history.rows.holds[0] = a_hold(3, sent - Millis{1}, worker);
  CHECK(look(history).ok);
}

TEST_CASE("verify: what a hold forbids ends with its trial, or with it") {
  model::WorkerHold hold = a_hold(1, at(10), "w1");
  CHECK_FALSE(is_against(hold, at(10)));
  CHECK(is_against(hold, at(11)));
  CHECK(is_against(hold, at(1000)));  // its end is not stored, whatever was planned
  hold.trial = at(20);
  CHECK(is_against(hold, at(19)));
  CHECK_FALSE(is_against(hold, at(20)));
  hold.trial.reset();
  hold.ended = at(15);
  CHECK_FALSE(is_against(hold, at(15)));
}

}  // namespace rota::master::verify::test
