// The moments of a run, attempt by attempt.
#include <doctest/doctest.h>

#include <string>

#include "client/timeline.h"

using namespace rota;
using namespace rota::client;

namespace {

constexpr std::int64_t kDue = 1'800'000'000'000;

thrift::RunDetail a_timed_run(const std::string& state) {
  thrift::RunDetail detail;
  detail.run.id = (std::int64_t{7} << 40) + 1;
  detail.run.kind = "tick";
  detail.run.state = state;
  detail.run.scheduled_ms = kDue;
  detail.run.recorded_ms = kDue + 3;
  detail.run.epoch = 8;
  return detail;
}

std::string moments_of(const thrift::RunDetail& detail) {
  std::string text;
  for (const TimelineRow& row : timeline_of(detail)) {
    text += std::to_string(row.attempt) + " " + row.what + " ";
    text += row.at_ms ? std::to_string(*row.at_ms - kDue) : "?";
    text += row.after_ms ? " +" + std::to_string(*row.after_ms) + "\n" : "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("timeline: a run of one attempt, with the time between moments that are known") {
  thrift::RunDetail detail = a_timed_run("succeeded");
  detail.run.attempt = 1;
  detail.run.worker.id = "w1";
  detail.run.__set_dispatched_ms(kDue + 5);
  detail.run.__set_started_ms(kDue + 9);
  detail.run.__set_ended_ms(kDue + 60);
  detail.run.outcome.state = "succeeded";
  detail.run.outcome.started_ms = kDue + 10;
  detail.run.outcome.ended_ms = kDue + 50;
  CHECK(moments_of(detail) ==
        "0 due 0\n0 decided 3 +3\n0 queued ?\n1 sent 5 +2\n1 accepted ?\n1 started 10 +5\n1 ended 50 +40\n"
        "0 recorded 60 +10\n");
}

TEST_CASE("timeline: what has not happened says so, and nothing is made up") {
  thrift::RunDetail detail = a_timed_run("queued");
  CHECK(moments_of(detail) == "0 due 0\n0 decided 3 +3\n0 queued ?\n0 recorded ?\n");
  detail.run.state = "running";
  detail.run.attempt = 1;
  detail.run.__set_dispatched_ms(kDue + 5);
  CHECK(moments_of(detail) ==
        "0 due 0\n0 decided 3 +3\n0 queued ?\n1 sent 5 +2\n1 accepted ?\n1 started ?\n1 ended ?\n0 recorded ?\n");
  CHECK(timeline_of(detail)[6].note == "has not happened yet");
}

TEST_CASE("timeline: in the delay before the next attempt the newest is over") {
  thrift::RunDetail detail = a_timed_run("waiting");
  detail.run.attempt = 1;
  detail.run.worker.id = "w1";
  detail.run.__set_dispatched_ms(kDue + 5);
  detail.run.outcome.state = "failed";
  detail.run.outcome.started_ms = kDue + 6;
  detail.run.outcome.ended_ms = kDue + 8;
  detail.run.__set_not_before_ms(kDue + 1008);
  CHECK(moments_of(detail) ==
        "0 due 0\n0 decided 3 +3\n0 queued ?\n1 sent 5 +2\n1 accepted ?\n1 started 6 +1\n1 ended 8 +2\n"
        "0 waits until 1008 +1000\n0 recorded ?\n");
}

TEST_CASE("timeline: earlier attempts stand before the newest, and the pause before the next one is shown") {
  thrift::RunDetail detail = a_timed_run("waiting");
  thrift::AttemptInfo first;
  first.attempt.attempt = 1;
  first.worker.id = "w1";
  first.__set_dispatched_ms(kDue + 5);
  first.outcome.state = "failed";
  first.outcome.started_ms = kDue + 6;
  first.outcome.ended_ms = kDue + 8;
  detail.attempts = {first};
  detail.run.__set_not_before_ms(kDue + 1008);
  CHECK(moments_of(detail) ==
        "0 due 0\n0 decided 3 +3\n0 queued ?\n1 sent 5 +2\n1 accepted ?\n1 started 6 +1\n1 ended 8 +2\n1 recorded ?\n"
        "0 waits until 1008 +1000\n0 recorded ?\n");
  detail.attempts[0].outcome.state = "lost";
  detail.attempts[0].outcome.started_ms = detail.attempts[0].outcome.ended_ms = 0;
  CHECK(timeline_of(detail)[5].note == "lost with its worker");
  CHECK_FALSE(timeline_of(detail)[5].at_ms.has_value());
}
