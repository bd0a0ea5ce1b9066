// P48: what the attempts of a worker took together, beside what the rows of its lives say that it had.
#include <doctest/doctest.h>

#include "history.h"

namespace rota::master::verify::test {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

/// Its job may run side by side as often as it likes; each run takes two slots and a GiB of a worker.
History a_history_of_needs(std::int32_t slots, std::int64_t memory) {
  History out = a_true_history();
  model::JobDefinition definition = *every(Millis{1000}, model::Overlap::Allow);
  definition.rules.slots = 2;
  definition.rules.needs["memory"] = kGiB;
  out.rows.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
  core::WorkerLife life;
  life.key = {"w", "i"};
  life.pool = "default";
  life.joined = at(0);
  life.slots = slots;
  life.offers = model::Amounts{{"memory", memory}};
  out.rows.lives.push_back(life);
  return out;
}

void let_three_live_at_once(History& history) {
  history.run_of(at(5)).progress.outcome.ended = at(8);
  history.run_of(at(6)).progress.outcome.ended = at(8);
}

}  // namespace

TEST_CASE("verify: attempts that take as much as a worker has are fine, more is red") {
  History history = a_history_of_needs(6, 3 * kGiB);
  CHECK(look(history).ok);
  CHECK(check_of(look(history), "P48").planned == 16);
  let_three_live_at_once(history);
  CHECK(red(look(history)) == "");
  SUBCASE("slots") {
    history.rows.lives[0].slots = 5;
    const Report report = look(history);
    CHECK(red(report) == "P48");
    CHECK(check_of(report, "P48").examples[0].find("lived on worker w took 1 more slots than it had") !=
          std::string::npos);
  }
  SUBCASE("amounts") {
    history.rows.lives[0].offers = model::Amounts{{"memory", 3 * kGiB - 1}};
    const Report report = look(history);
    CHECK(red(report) == "P48");
    CHECK(check_of(report, "P48").examples[0].find("took 1 more of memory than it had") != std::string::npos);
  }
  SUBCASE("what another life of it had counts too") {
    history.rows.lives[0].slots = 5;
    history.rows.lives.push_back(history.rows.lives[0]);
    history.rows.lives[1].key.incarnation = "j";
    history.rows.lives[1].slots = 6;
    CHECK(red(look(history)) == "");
  }
  SUBCASE("nothing is claimed of a life whose row does not say what it had") {
    history.rows.lives[0].slots.reset();
    CHECK(red(look(history)) == "");
    CHECK(check_of(look(history), "P48").planned == 0);
  }
}

TEST_CASE("verify: where no job says slots or needs nothing is looked at for P48") {
  History history = a_history_of_needs(1, 0);
  history.rows.versions[0].definition = every(Millis{1000}, model::Overlap::Allow);
  let_three_live_at_once(history);
  CHECK(check_of(look(history), "P48").planned == 0);
  CHECK(look(history).ok);
}

TEST_CASE("verify: a run of a version that was stored later counts as one slot for P48") {
  History history = a_history_of_needs(5, 2 * kGiB);
  let_three_live_at_once(history);
  CHECK(red(look(history)) == "P48");
  history.run_of(at(6)).version = 2;
  CHECK(red(look(history)).find("P48") == std::string::npos);
}

}  // namespace rota::master::verify::test
