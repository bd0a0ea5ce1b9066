#include <doctest/doctest.h>

#include "harness.h"
#include "state_surgery.h"

using namespace rota;
using namespace rota::master::core;
using namespace rota::test;
using namespace std::chrono_literals;

namespace {

/// What is met within so many looks, and after how many; none: `most` looks met nothing.
struct Met {
  std::vector<Violation> violations;
  int looks = 0;
};
Met look_until_met(Scheduler& scheduler, int most) {
  Met met;
  while (met.violations.empty() && met.looks < most) {
    met.violations = scheduler.sample_invariants();
    ++met.looks;
  }
  return met;
}

}  // namespace

TEST_CASE("invariants: a broken entry among many is met within a bounded number of looks") {
  constexpr int kJobsHere = 200;
  Harness h;
  std::vector<JobId> jobs;
  for (int i = 0; i < kJobsHere; ++i) jobs.push_back(h.apply(a_job("j" + std::to_string(i)).every(1h)));
  constexpr int kAllSeen = kJobsHere / InvariantSample::kJobs + 2;
  CHECK(look_until_met(*h.scheduler, 2 * kAllSeen).violations.empty());
  StateSurgery::lose_due(StateSurgery::state_of(*h.scheduler), jobs[150]);
  const Met met = look_until_met(*h.scheduler, kAllSeen);
  REQUIRE(met.violations.size() == 1);
  CHECK(met.violations[0].what == "a due tick is not indexed (job default/j150)");
  CHECK(met.violations[0].around.find("version 1: 0 unfinished") != std::string::npos);
  CHECK(met.violations[0].around.find("watermark") != std::string::npos);
  CHECK(look_until_met(*h.scheduler, kAllSeen).violations.size() == 1);  // as long as it lasts
}

TEST_CASE("invariants: a run, its queue and its worker are told with what is broken") {
  Harness h;
  h.listed();
  const auto worker = h.join(a_worker("w1", 1));
  h.apply(a_job("a").overlap(model::Overlap::Allow));
  const RunId held = h.run_now("a");
  const RunId queued = h.run_now("a");
  State& state = StateSurgery::state_of(*h.scheduler);
  CHECK(look_until_met(*h.scheduler, 10).violations.empty());

  SUBCASE("a held attempt that its worker does not know of") {
    StateSurgery::lose_attempt(state, held);
    const Met met = look_until_met(*h.scheduler, 2);
    REQUIRE_FALSE(met.violations.empty());
    CHECK(met.violations[0].what ==
          "a held attempt is missing at its worker (run " + std::to_string(held.value) + ")");
    CHECK(met.violations[0].around.find("attempt 1 by w1/" + worker.incarnation) != std::string::npos);
    CHECK(met.violations[0].around.find("job ") != std::string::npos);
    CHECK(met.violations[0].around.find("life w1/") != std::string::npos);
  }
  SUBCASE("a queued run that does not know of its queue") {
    StateSurgery::forget_queue(state, queued);
    const Met met = look_until_met(*h.scheduler, 2);
    REQUIRE(met.violations.size() == 2);
    CHECK(met.violations[0].what == "queued and queue differ (run " + std::to_string(queued.value) + ")");
    CHECK(met.violations[0].around.find("queue default: all_slots_busy") != std::string::npos);
  }
}

TEST_CASE("invariants: a worker with free slots that gets nothing is met") {
  Harness h;
  h.listed();
  h.join(a_worker("w1"));
  StateSurgery::close_all(StateSurgery::state_of(*h.scheduler));
  const Met met = look_until_met(*h.scheduler, 2);
  REQUIRE(met.violations.size() == 1);
  CHECK(met.violations[0].what == "a worker with free slots gets nothing (worker w1, life i1)");
}
