#include <doctest/doctest.h>

#include "common/model/retry_text.h"

using namespace rota;
using namespace rota::model;

TEST_CASE("retry text: lines of ends are read and written") {
  for (const char* line : {"failed", "timed_out", "start_failed", "exit 1", "exit 75,100-110", "signal 9,15"}) {
    const auto filter = end_filter_from_text(line);
    REQUIRE_MESSAGE(filter, line);
    CHECK(text_of(*filter) == line);
  }
  CHECK(text_of(*end_filter_from_text("exit 75, 100-110")) == "exit 75,100-110");
}

TEST_CASE("retry text: what is no end is refused with what is allowed") {
  const auto trouble = [](const char* line) { return end_filter_from_text(line).error().message; };
  CHECK(trouble("exit 256") == "exit: '256' is no number from 1 to 255, and no range of them like 100-110");
  CHECK(trouble("exit 9-3") == "exit: '9-3' is no number from 1 to 255, and no range of them like 100-110");
  CHECK(trouble("exit 0") == "exit: '0' is no number from 1 to 255, and no range of them like 100-110");
  CHECK(trouble("exit 4-") == "exit: '4-' is no number from 1 to 255, and no range of them like 100-110");
  CHECK(trouble("exit ") == "exit: no number is given; write one from 1 to 255");
  CHECK(trouble("signal 65") == "signal: '65' is no number from 1 to 64, and no range of them like 100-110");
  CHECK(trouble("succeeded").starts_with("'succeeded' is no end of an attempt; write {exit: [75]}"));
}

TEST_CASE("retry text: an end is meant by its state, its reason, its status or its signal") {
  Outcome outcome;
  outcome.state = RunState::Failed;
  outcome.reason = Reason::ExitStatus;
  outcome.exit_status = 7;
  CHECK(is_meant({"failed"}, outcome));
  CHECK(is_meant({"timed_out", "exit 5-7"}, outcome));
  CHECK(is_meant({"exit_status"}, outcome));
  CHECK_FALSE(is_meant({"timed_out", "exit 5,6,8-9", "signal 7"}, outcome));
  CHECK_FALSE(is_meant({"nonsense"}, outcome));
  outcome.reason = Reason::Signalled;
  outcome.exit_status = -1;
  outcome.signal = 9;
  CHECK(is_meant({"signal 1-9"}, outcome));
  CHECK_FALSE(is_meant({"exit 1-255"}, outcome));
  outcome = {};
  outcome.state = RunState::TimedOut;
  CHECK(is_meant({"timed_out"}, outcome));
  CHECK_FALSE(is_meant({"failed"}, outcome));
}

TEST_CASE("retry text: again is read and written, and refused with what is wrong") {
  const auto again = again_from_text("exit 75,80-82; every 1m; at_most 6h");
  REQUIRE(again);
  CHECK(text_of(*again) == "exit 75,80-82; every 1m; at_most 6h");
  CHECK(text_of(*again_from_text("exit 75")) == "exit 75; every 5m");
  const auto trouble = [](const char* line) { return again_from_text(line).error().message; };
  CHECK(trouble("every 5m") == "exit is missing; write the exit statuses that say \"not ready yet\", like 75");
  CHECK(trouble("exit 75; every 500ms") == "every: 500ms is out of range; write a duration from 1s to 365d");
  CHECK(trouble("exit 75; often 5m") == "'often' is unknown; again takes exit, every and at_most");
}
