#include "client/calendar_words.h"

#include <doctest/doctest.h>

#include <vector>

using namespace rota;

namespace {

thrift::CalendarEdited an_edit(std::vector<thrift::JobOver> jobs, std::int32_t count, std::int32_t looked_at,
                               std::int32_t users) {
  thrift::CalendarEdited out;
  out.version = 3;
  out.what = "changed";
  thrift::JobsOver over;
  over.jobs = std::move(jobs);
  over.count = count;
  over.looked_at = looked_at;
  over.users = users;
  out.__set_jobs_over(over);
  return out;
}

thrift::JobOver a_job_over(const std::string& name, std::vector<std::int32_t> entries = {0},
                           bool others_fire = false) {
  thrift::JobOver out;
  out.name = name;
  out.entries = std::move(entries);
  out.others_fire = others_fire;
  return out;
}

}  // namespace

TEST_CASE("calendar words: an edit names the jobs that can never fire again, and what to do") {
  CHECK(client::over_words("year", an_edit({a_job_over("settle")}, 1, 4, 4), {}) ==
        "calendar year, version 3: 1 job can never fire again once it counts: settle; let it cover more days, or "
        "change the job");
  CHECK(client::over_words("year", an_edit({a_job_over("settle"), a_job_over("month", {1, 3}, true)}, 14, 500, 700), {}) ==
        "calendar year, version 3: 14 jobs can never fire again once it counts: settle, month (only schedule[1], "
        "schedule[3]; its other entries fire), and 12 more; of the 700 jobs that use it only 500 were looked at; let "
        "it cover more days, or change the jobs");
  CHECK(client::over_words("a\nb", an_edit({a_job_over("c\x1b")}, 1, 1, 1), {}).find("c\\x1b") != std::string::npos);
}

TEST_CASE("calendar words: an edit that leaves every job its moments says nothing") {
  CHECK(client::over_words("year", an_edit({}, 0, 4, 4), {}).empty());
  auto created = an_edit({}, 0, 0, 0);
  created.what = "created";
  created.__isset.jobs_over = false;
  CHECK(client::over_words("year", created, {}).empty());
}

TEST_CASE("calendar words: jobs of the same plan are left out, since their own plan judges them") {
  const auto edit = an_edit({a_job_over("settle"), a_job_over("month")}, 2, 2, 2);
  CHECK(client::over_words("year", edit, {"settle"}) ==
        "calendar year, version 3: 1 job can never fire again once it counts: month; let it cover more days, or "
        "change the job");
  CHECK(client::over_words("year", edit, {"settle", "month"}).empty());
}

TEST_CASE("calendar words: what was not looked at is told") {
  CHECK(client::over_words("year", an_edit({}, 0, 500, 700), {}) ==
        "calendar year, version 3: no job was found that can never fire again; of the 700 jobs that use it only 500 "
        "were looked at");
  thrift::CalendarEdited older;
  older.version = 3;
  older.what = "changed";
  CHECK(client::over_words("year", older, {}) ==
        "calendar year, version 3: whether jobs that use it can never fire again is not known, since the leader did "
        "not say it");
}

TEST_CASE("calendar words: a calendar that ends names its last day, its jobs and what counts then") {
  constexpr std::int64_t kDay = 86'400'000;
  thrift::CalendarEnding ending;
  ending.space = "shop";
  ending.name = "year";
  ending.last_day = "2026-12-31";
  ending.ends_ms = 100 * kDay;
  ending.beyond = "hold";
  ending.jobs = 2;
  CHECK(client::ending_words(ending, 62 * kDay) ==
        "calendar shop/year covers no day after 2026-12-31 (38 days from now); 2 jobs use it; nothing fires then "
        "(beyond: hold)");
  ending.beyond = "days";
  ending.jobs = 1;
  CHECK(client::ending_words(ending, 98 * kDay + 1) ==
        "calendar shop/year covers no day after 2026-12-31 (1 day from now); 1 job uses it; its weekdays alone decide "
        "then (beyond: days)");
  CHECK(client::ending_words(ending, 100 * kDay).find("(over)") != std::string::npos);
}
