#include "master/core/time/cron_hash.h"

#include <map>
#include <set>

#include "test/unit/when/when_cases.h"

using namespace rota;
using namespace rota::master::core;

namespace {

Result<CronExpression> hashed(const std::string& cron, const std::string& job) {
  return parse_cron(cron, model::CronDialect::Guess, job_hash("default", job));
}

}  // namespace

TEST_CASE("cron: H is one number of the field, the same whenever one asks") {
  std::set<std::uint64_t> minutes;
  for (int i = 0; i < 600; ++i) {
    const std::string job = "job-" + std::to_string(i);
    const auto cron = hashed("H H H * *", job);
    REQUIRE(cron);
    CHECK(std::popcount(cron->minutes) == 1);
    CHECK(std::popcount(cron->hours) == 1);
    CHECK(std::popcount(cron->month_days) == 1);
    CHECK(cron->month_days < (2u << 28));  // a day that each month has
    CHECK_FALSE(cron->follows_elapsed_time);
    CHECK(hashed("H H H * *", job)->minutes == cron->minutes);
    minutes.insert(cron->minutes);
  }
  CHECK(minutes.size() == 60);  // 600 jobs come to every minute
}

TEST_CASE("cron: H takes a range and a step") {
  for (int i = 0; i < 200; ++i) {
    const std::string job = "job-" + std::to_string(i);
    CHECK((hashed("H(10-19) * * * *", job)->minutes & ~(0x3FFull << 10)) == 0);
    const auto stepped = hashed("H/15 * * * *", job);
    CHECK(std::popcount(stepped->minutes) == 4);
    CHECK(std::countr_zero(stepped->minutes) < 15);
    CHECK(stepped->follows_elapsed_time);
    CHECK(std::popcount(hashed("H(0-29)/10 * * * *", job)->minutes) == 3);
    CHECK(std::popcount(unsigned(hashed("0 0 * * H", job)->weekdays)) == 1);
    CHECK(std::popcount(unsigned(hashed("0 0 0 ? * H", job)->weekdays)) == 1);
  }
}

TEST_CASE("cron: a wrong H is refused with its place") {
  const auto message = [](const char* cron) { return hashed(cron, "a").error().message; };
  CHECK(message("H(50-70) * * * *") == "column 6, minute: 70 is out of range (0 to 59)");
  CHECK(message("H(20-10) * * * *") == "column 1, minute: write the range of H as H(0-29)");
  CHECK(message("H/0 * * * *") == "column 3, minute: a step of 0 is out of range (1 to 59)");
  CHECK(message("0 0 0 1 1 ? H") == "column 13, year: H does not stand for a year");
  CHECK(parse_cron("H * * * *").error().message ==
        "column 1, minute: H needs the name of a job, which is not known here");
}

TEST_CASE("jitter: it is the job's own, within what is allowed, and spreads") {
  std::map<std::int64_t, int> minutes;
  for (int i = 0; i < 6000; ++i) {
    const std::uint64_t hash = job_hash("default", "job-" + std::to_string(i));
    const Millis jitter = jitter_of(hash, Millis{600'000});
    CHECK(jitter >= Millis{0});
    CHECK(jitter <= Millis{600'000});
    CHECK(jitter == jitter_of(hash, Millis{600'000}));
    ++minutes[jitter.count() / 60'001];
  }
  CHECK(minutes.size() == 10);
  for (const auto& [minute, jobs] : minutes) CHECK(jobs > 500);
  CHECK(jitter_of(job_hash("a", "b"), Millis{0}) == Millis{0});
  CHECK(job_hash("a", "bc") != job_hash("ab", "c"));
}
