#include "common/model/entry_text.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace rota::model;

namespace {

std::string refusal(const char* text) {
  const auto entry = entry_from_text(text);
  return entry ? "" : entry.error().message;
}

}  // namespace

TEST_CASE("entry text: each line is written as it was read") {
  for (const char* line :
       {"cron 30 2 * * *", "every 5m; between 09:30-16:00; time_zone America/New_York; name open",
        "at 2026-01-01T00:00:00.250Z; end 2027-01-01T00:00:00.000Z", "working_day -1; time 18:00; time_zone Asia/Shanghai",
        "cron 0 30 2 * * ?; dialect quartz; skipped_time quartz; start 2026-01-01T00:00:00.000Z",
        "cron H H * * *; dialect unix; skipped_time skip; repeated_time both", "after_end 10m; between 09:30-16:00; jitter 30s",
        "cron 30 2 * * *; calendars cn,nyse; otherwise previous; day -1", "worker_start", "worker_start; name boot"}) {
    const auto entry = entry_from_text(line);
    REQUIRE_MESSAGE(entry, line);
    CHECK(entry_to_text(*entry) == line);
  }
}

TEST_CASE("entry text: blanks, and clauses in another order, make no difference") {
  const auto entry = entry_from_text("  name open ;time_zone Asia/Tokyo;  every 1h30m");
  REQUIRE(entry);
  CHECK(entry_to_text(*entry) == "every 1h30m; time_zone Asia/Tokyo; name open");
}

TEST_CASE("entry text: says which clause is wrong") {
  CHECK(refusal("") == "entry: there is nothing");
  CHECK(refusal("every 5m;") == "entry: there is nothing");
  CHECK(refusal("name a") == "entry: give one of cron, every, at, after_end, working_day and worker_start");
  CHECK(refusal("every 5m; cron * * * * *") == "cron: give one of cron, every, at, after_end, working_day and worker_start");
  CHECK(refusal("every 5m; every 6m") == "every: it is given twice");
  CHECK(refusal("every 5m; colour blue") == "colour: there is no such clause");
  CHECK(refusal("every") == "every: there is nothing");
  CHECK(refusal("working_day last") == "working_day: it is no number");
  CHECK(refusal("at 2026-01-01T00:00:00Z; start 2026-01-01T00:00:00Z") == "start: at and start do not go together");
  CHECK(refusal("cron * * * * *; skipped_time never") == "skipped_time: allowed are skip and quartz");
  CHECK(refusal("cron * * * * *; repeated_time first") == "repeated_time: allowed are second and both");
  CHECK(refusal("worker_start 5") == "worker_start: it stands alone");
  CHECK(refusal("after_end soon").starts_with("after_end: "));
  CHECK(refusal("cron * * * * *; jitter soon").starts_with("jitter: "));
  CHECK(refusal("cron * * * * *; otherwise skip") == "otherwise: allowed are next and previous");
  CHECK(refusal("cron * * * * *; dialect guess") == "dialect: allowed are unix and quartz");
}
