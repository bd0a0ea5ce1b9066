// P41: what runs held of a semaphore, beside its stored versions.
#include <doctest/doctest.h>

#include "history.h"
#include "master/verify/held_beside.h"

namespace rota::master::verify::test {
namespace {

model::SemaphoreRow a_semaphore(std::int32_t version, std::int32_t count, WallTime changed, std::int64_t epoch = 1) {
  return {"default", "oracle", version, count, changed, run_id(epoch, version).value, "tester", false};
}

/// Its job may run side by side as often as it likes, and takes one token; there are two.
History a_history_of_tokens(std::int32_t count) {
  History out = a_true_history();
  model::JobDefinition definition = *every(Millis{1000}, model::Overlap::Allow);
  definition.rules.uses["oracle"] = 1;
  out.rows.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
  out.rows.semaphores.push_back(a_semaphore(1, count, at(0)));
  return out;
}

}  // namespace

TEST_CASE("verify: as many tokens as a semaphore has are fine, one more is red") {
  History history = a_history_of_tokens(2);
  CHECK(look(history).ok);
  CHECK(check_of(look(history), "P41").planned == 16);
  history.run_of(at(5)).progress.outcome.ended = at(8);
  CHECK(red(look(history)) == "");  // beside each of the next two
  history.run_of(at(6)).progress.outcome.ended = at(8);
  const Report report = look(history);
  CHECK(red(report) == "P41");
  CHECK(check_of(report, "P41").examples[0].find("1 more tokens of semaphore oracle than it had") != std::string::npos);
  history.rows.semaphores[0].count = 3;
  CHECK(look(history).ok);
}

TEST_CASE("verify: a run that was sent under a lower count and begins last held no token too many") {
  History history = a_history_of_tokens(1);
  history.rows.semaphores.push_back(a_semaphore(2, 2, at(5) + Millis{500}));
  for (const std::int64_t tick : {5, 6}) {
    model::RunProgress& progress = history.run_of(at(tick)).progress;
    progress.dispatched = at(tick);
    progress.outcome.ended = at(6) + Millis{900};
  }
  model::RunProgress& first = history.run_of(at(5)).progress;
  first.started = first.outcome.started = at(6) + Millis{500};
  CHECK(red(look(history)) == "");
  history.rows.semaphores[1].count = 1;
  CHECK(red(look(history)) == "P41");
}

TEST_CASE("verify: which counts may have been in force when a token was given") {
  std::vector<Amount> versions;
  for (const auto& row : {a_semaphore(1, 2, at(0)), a_semaphore(2, 5, at(100)), a_semaphore(3, 1, at(200)),
                          a_semaphore(4, 7, at(300), 3)}) {
    versions.push_back({row.count, row.changed, row.number});
  }
  const auto in_one_term = [&](std::int64_t sent) {
    return most_in_force(versions, {run_id(1, 9), Epoch{1}, at(1), at(sent)});
  };
  CHECK(in_one_term(50) == 2);
  CHECK(in_one_term(150) == 5);
  CHECK(in_one_term(200) == 5);  // in the same millisecond: before or after
  CHECK(in_one_term(250) == 1);
  // Nothing is known of when it was sent but that it was recorded in the first Term, and ended in the second.
  CHECK(most_in_force(versions, {run_id(1, 9), Epoch{2}, at(150), at(250)}) == 5);
  CHECK(most_in_force(versions, {run_id(1, 9), Epoch{2}, at(250), at(260)}) == 1);
  CHECK(most_in_force(versions, {run_id(2, 9), Epoch{2}, at(10), at(20)}) == 1);  // a clock that went back
  CHECK(most_in_force(versions, {run_id(2, 9), Epoch{3}, at(10), at(20)}) == 7);
  CHECK(most_in_force({}, {run_id(1, 9), Epoch{1}, at(1), at(2)}) == 0);
}

}  // namespace rota::master::verify::test
