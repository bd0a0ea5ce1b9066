// What verify asks of many jobs at once: the same as of each alone.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

TEST_CASE("verify reads: of many jobs at once, as of each alone") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes;
    const std::vector<JobId> jobs{JobId{10}, JobId{11}, JobId{12}};
    for (const JobId job : {JobId{10}, JobId{12}}) {
      changes.jobs.push_back(a_job(job.value, "job" + std::to_string(job.value)));
      for (const int version : {1, 2}) {
        changes.versions.push_back(a_version(job.value, version, "job" + std::to_string(job.value)));
      }
      for (int tick = 1; tick <= 3; ++tick) {
        changes.new_runs.push_back(a_tick_run(job.value * 100 + tick, job.value, tick));
        changes.gaps.push_back(a_gap(job.value, 10 * tick, 10 * tick + 5));
      }
    }
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    const WallTime early = wall_from_ms(0), late = wall_from_ms(7'258'118'400'000);

    CHECK(on.reader->versions_of_jobs(jobs)->size() == 4);
    CHECK(on.reader->versions_of_jobs(jobs)->at(2).job == JobId{12});
    const auto runs = on.reader->tick_runs_of_jobs(jobs, early, late, 100);
    REQUIRE_MESSAGE(runs.has_value(), (runs ? "" : runs.error().message));
    REQUIRE(runs->size() == 6);
    CHECK(runs->at(0).id == RunId{1001});
    CHECK(runs->at(5).id == RunId{1203});
    CHECK(on.reader->tick_runs_of_jobs(jobs, early, late, 4)->back().id == RunId{1201});
    CHECK(on.reader->tick_runs_of_jobs(jobs, *runs->at(0).tick, *runs->at(1).tick, 100)->size() == 2);
    CHECK(on.reader->gaps_of_jobs(jobs, 100)->size() == 6);
    CHECK(on.reader->gaps_of_jobs(jobs, 5)->back().job == JobId{12});
    CHECK(on.reader->gaps_of_jobs({}, 5)->empty());
    CHECK(on.reader->count_saved_jobs() == 2);
    CHECK(on.reader->gone_through_of_jobs(jobs)->empty());
    REQUIRE(on.history->forget_through({{JobId{12}, wall_from_ms(kBase)}}));
    CHECK(on.reader->gone_through_of_jobs(jobs)->at(JobId{12}) == wall_from_ms(kBase));
    CHECK(on.reader->runs_of_job_after(JobId{12}, RunId{1201}, 10)->size() == 2);
    CHECK(on.reader->runs_of_job_after(JobId{12}, RunId{0}, 1)->front().id == RunId{1201});
    CHECK(on.reader->runs_of_job_up_to(JobId{12}, RunId{1202}, 10)->front().id == RunId{1202});
    CHECK(on.reader->runs_of_job_up_to(JobId{12}, RunId{1202}, 1)->size() == 1);
    CHECK(on.reader->runs_of_job_up_to(JobId{12}, RunId{1200}, 10)->empty());
  }
}
