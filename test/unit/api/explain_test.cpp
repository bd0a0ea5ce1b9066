#include <doctest/doctest.h>

#include "master/api/explain_rules.h"

namespace rota::master::api {

TEST_CASE("explain: every reason has a sentence, with the pool where it matters") {
  for (int i = 1; i <= static_cast<int>(model::Reason::FileSizeExceeded); ++i) {
    const auto text =
        sentence_for(model::RunState::Waiting, static_cast<model::Reason>(i), "", "pool-7");
    CHECK_MESSAGE(text.size() > 30, text);
  }
  CHECK(sentence_for(model::RunState::Cancelled, model::Reason::CancelledByUser, "", "p") ==
        "It was cancelled before it started.");
  CHECK(sentence_for(model::RunState::Queued, model::Reason::NoWorkerInPool, "", "pool-7")
            .find("pool-7") != std::string::npos);
  CHECK(sentence_for(model::RunState::Waiting, model::Reason::WaitsForRun, "run 5", "p")
            .find("(run 5)") != std::string::npos);
}

}  // namespace rota::master::api
