// Timeouts that a namespace gives to jobs that do not say them.
#include <doctest/doctest.h>

#include "harness.h"
#include "master/core/attempts/limit_rules.h"
#include "state_surgery.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Overlap;
using model::Reason;
using model::RunState;

namespace {

struct Times {
  std::optional<Millis> attempt = {}, run = {}, queue = {};
};

void set_times(Harness& h, const Times& times) {
  SetQuota event;
  event.of = model::QuotaOf::Space;
  event.name = "default";
  event.timeout = times.attempt;
  event.run_timeout = times.run;
  event.queue_timeout = times.queue;
  REQUIRE(h.set_quota(event));
}

Millis limit_sent(Harness& h) {
  const auto sent = h.pop_dispatches();
  REQUIRE_FALSE(sent.empty());
  return sent.back().timeout;
}

void change_office(Harness& h) {
  auto versions = h.versions;
  auto quotas = h.quotas;
  h = Harness(h.recovered(), {}, Epoch{h.epoch.value + 1}, h.now);
  h.versions = std::move(versions);
  h.quotas = std::move(quotas);
}

bool ended_so(const Harness& h, RunId run, Reason reason, const std::string& detail) {
  const model::RunProgress& at = h.run(run).progress;
  return at.state == RunState::TimedOut && at.reason == reason && at.detail == detail && at.ended;
}

}  // namespace

TEST_CASE("default times: count where the job says nothing, each for itself") {
  Harness h;
  h.join(a_worker("w", 10));
  set_times(h, {2h, 3h, {}});
  h.apply(a_job("silent").overlap(Overlap::Allow));
  h.apply(a_job("says").timeout(5min));
  h.apply(a_job("whole").run_timeout(10min));
  h.run_now("silent");
  CHECK(limit_sent(h) == 2h);
  h.run_now("says");
  CHECK(limit_sent(h) == 5min);
  h.run_now("whole");
  CHECK(limit_sent(h) == 10min);
  set_times(h, {4h, {}, {}});
  h.run_now("silent");
  CHECK(limit_sent(h) == 3h);  // the run's
  set_times(h, {Millis{0}, Millis{0}, {}});
  h.run_now("silent");
  CHECK(limit_sent(h) == Millis{0});
}

TEST_CASE("default times: other namespaces have their own") {
  Harness h;
  h.join(a_worker("w"));
  SetQuota event;
  event.of = model::QuotaOf::Space;
  event.name = "shop";
  event.timeout = 1min;
  REQUIRE(h.set_quota(event));
  h.apply(a_job());
  h.run_now("j");
  CHECK(limit_sent(h) == Millis{0});
}

TEST_CASE("default times: an attempt keeps the time with which it was sent, also under the next leader") {
  Harness h;
  h.join(a_worker("w"));
  set_times(h, {10min, {}, {}});
  h.apply(a_job());
  const RunId run = h.run_now("j");
  CHECK(limit_sent(h) == 10min);
  h.advance(1min);
  set_times(h, {2min, {}, {}});
  const auto limit = [&] {
    State& state = StateSurgery::state_of(*h.scheduler);
    return limit_of_attempt(state, *state.find_run(run));
  };
  CHECK(limit().most == 10min);
  change_office(h);
  CHECK(limit().most == 10min);
  CHECK(limit().is_default);
}

TEST_CASE("default times: an attempt that was timed out by one says whose it was") {
  Harness h;
  h.join(a_worker("w"));
  set_times(h, {10min, {}, {}});
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.advance(10min);
  h.report(run, RunState::TimedOut);
  CHECK(h.run(run).progress.state == RunState::TimedOut);
  CHECK(h.run(run).progress.detail == "timeout.attempt: 10m (namespace default)");
}

TEST_CASE("default times: a run that waits is out of time by what is in force now, never before it was set") {
  Harness h;
  h.apply(a_job());
  const RunId run = h.run_now("j");
  h.advance(30min);
  SUBCASE("set when its time is over already: it ends at once") {
    set_times(h, {{}, {}, 10min});
    h.advance(1ms);
    CHECK(ended_so(h, run, Reason::QueueTimeout, "timeout.queue: 10m (namespace default)"));
  }
  SUBCASE("set before: it ends in time") {
    set_times(h, {{}, {}, 40min});
    h.advance(10min - 1ms);
    CHECK(h.run(run).progress.state == RunState::Queued);
    h.advance(1ms);
    CHECK(ended_so(h, run, Reason::QueueTimeout, "timeout.queue: 40m (namespace default)"));
  }
  SUBCASE("set, and removed before") {
    set_times(h, {{}, {}, 40min});
    set_times(h, {{}, {}, Millis{0}});
    h.advance(60min);
    CHECK(h.run(run).progress.state == RunState::Queued);
  }
  SUBCASE("set, and made longer before") {
    set_times(h, {{}, {}, 40min});
    set_times(h, {{}, {}, 60min});
    h.advance(29min);
    CHECK(h.run(run).progress.state == RunState::Queued);
    h.advance(1min);
    CHECK(ended_so(h, run, Reason::QueueTimeout, "timeout.queue: 1h (namespace default)"));
  }
  SUBCASE("a new leader knows it") {
    set_times(h, {{}, {}, 40min});
    change_office(h);
    h.advance(10min);
    CHECK(ended_so(h, run, Reason::QueueTimeout, "timeout.queue: 40m (namespace default)"));
  }
}

TEST_CASE("default times: between two attempts a run ends by the default for runs") {
  Harness h;
  h.join(a_worker("w"));
  set_times(h, {{}, 10min, {}});
  h.apply(a_job().retries(9, 4min, 1.0));
  const RunId run = h.run_now("j");
  h.advance(1min);
  h.report(run, RunState::Failed);
  CHECK(h.run(run).progress.state == RunState::Waiting);
  set_times(h, {{}, 3min, {}});
  h.advance(2min);
  CHECK(ended_so(h, run, Reason::RunTimeout, "timeout.run: 3m (namespace default)"));
}
