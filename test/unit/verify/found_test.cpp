// P10: what the next leader would find.
#include <doctest/doctest.h>

#include <string>

#include "history.h"

namespace rota::master::verify::test {

namespace {

/// A store whose list of unfinished runs lacks some.
struct Forgetful : store::MemoryStore {
  Result<std::vector<RunId>> unlisted_among(const std::vector<RunId>& runs) override {
    asked = runs;
    return std::vector<RunId>{runs.begin(), runs.begin() + 1};
  }
  std::vector<RunId> asked;
};

}  // namespace

TEST_CASE("verify: an unfinished run that the next leader would not find is red, and named") {
  History history = a_true_history();
  for (const std::int64_t tick : {5, 6}) {
    model::RunProgress& progress = history.run_of(at(tick)).progress;
    progress.state = model::RunState::Running;
    progress.outcome = {};
    progress.ended.reset();
  }
  Forgetful memory;
  const Report report = look_in(memory, history);
  CHECK(memory.asked.size() == 2);
  CHECK(check_of(report, "P10").planned == 2);
  CHECK(check_of(report, "P10").missing == 1);
  CHECK(check_of(report, "P10").examples.at(0).find(std::to_string(memory.asked.at(0).value)) !=
        std::string::npos);
}

}  // namespace rota::master::verify::test
