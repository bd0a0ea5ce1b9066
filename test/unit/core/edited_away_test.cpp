// What edits of calendars take away: a logical time that falls between two versions fires under neither, and stands
// in a gap. The harness begins on 14 November 2023 at 22:13:20 UTC, a Tuesday.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "common/base/duration_text.h"
#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Reason;

namespace {

constexpr const char* kAllOpen = "mon-sun";

model::Calendar de_without(std::vector<std::string> days, const std::string& open = kAllOpen) {
  model::Calendar out;
  out.name = "de";
  out.days = open;
  out.exclude = std::move(days);
  return out;
}

void advance_to(Harness& h, const std::string& moment) {
  const auto there = parse_moment(moment);
  REQUIRE(there);
  REQUIRE(*there >= h.now.wall);
  h.advance(*there - h.now.wall);
}

std::string gaps(const Harness& h, JobId job) {
  std::string out;
  for (const model::Gap& gap : h.gaps_of(job)) {
    out += fmt::format("{}..{} {} {}; ", format_moment(gap.from), format_moment(gap.to), gap.count,
                       model::name_of(gap.reason));
  }
  return out;
}

std::string ticks(const Harness& h, JobId job) {
  std::string out;
  for (const RunId run : h.runs_of(job)) out += format_moment(*h.run(run).tick).substr(0, 16) + " ";
  return out;
}

/// A job that is moved back from closed days, in a world that has reached Wednesday 12:00. No worker is here:
/// each would wake the leader every second of these days.
struct MovedBack {
  explicit MovedBack(const std::string& line = "cron 0 0 9 * * ?; calendars de; otherwise previous") {
    REQUIRE(h.apply_calendar(de_without({})));
    job = h.apply(a_job().entries({line}).overlap(model::Overlap::Allow));
    advance_to(h, "2023-11-15T12:00:00Z");
  }
  Harness h;
  JobId job;
};

}  // namespace

TEST_CASE("edited away: what an edit moves back before itself stands in a gap at its former moment") {
  MovedBack world;
  Harness& h = world.h;
  REQUIRE(h.apply_calendar(de_without({"2023-11-16"})));
  advance_to(h, "2023-11-16T08:59:59Z");
  CHECK(gaps(h, world.job).empty());
  advance_to(h, "2023-11-17T10:00:00Z");
  CHECK(ticks(h, world.job) == "2023-11-15T09:00 2023-11-17T09:00 ");
  CHECK(gaps(h, world.job) == "2023-11-16T09:00:00.000Z..2023-11-16T09:00:00.000Z 1 calendar_edited; ");
}

TEST_CASE("edited away: neighbours share a row, in the batch that moves the watermark past them") {
  MovedBack world("cron 0 */10 9 * * ?; calendars de; otherwise previous");
  Harness& h = world.h;
  REQUIRE(h.apply_calendar(de_without({"2023-11-16"})));
  advance_to(h, "2023-11-16T08:00:00Z");
  h.handle(HoldTicks{"the clock is wrong"});
  advance_to(h, "2023-11-16T20:00:00Z");
  CHECK(gaps(h, world.job).empty());
  h.handle(HoldTicks{""});
  h.tick();
  CHECK(gaps(h, world.job) == "2023-11-16T09:00:00.000Z..2023-11-16T09:50:00.000Z 6 calendar_edited; ");
  REQUIRE(h.last.changes.watermark);
  CHECK(h.last.changes.gaps.size() == 1);
}

TEST_CASE("edited away: a day that is opened again in time fires, and one that is merely closed is no gap") {
  MovedBack world;
  Harness& h = world.h;
  REQUIRE(h.apply_calendar(de_without({"2023-11-16"})));
  advance_to(h, "2023-11-15T18:00:00Z");
  REQUIRE(h.apply_calendar(de_without({})));
  advance_to(h, "2023-11-16T12:00:00Z");
  CHECK(ticks(h, world.job) == "2023-11-15T09:00 2023-11-16T09:00 ");
  CHECK(gaps(h, world.job).empty());

  MovedBack skipping("cron 0 0 9 * * ?; calendars de");
  REQUIRE(skipping.h.apply_calendar(de_without({"2023-11-16"})));
  advance_to(skipping.h, "2023-11-17T12:00:00Z");
  CHECK(gaps(skipping.h, skipping.job).empty());
}

TEST_CASE("edited away: an edit that closes too late says it once, also when others follow") {
  MovedBack world;
  Harness& h = world.h;
  REQUIRE(h.apply_calendar(de_without({"2023-11-16"})));
  advance_to(h, "2023-11-15T13:00:00Z");
  REQUIRE(h.apply_calendar(de_without({"2023-11-16", "2023-12-24"})));
  advance_to(h, "2023-11-15T14:00:00Z");
  REQUIRE(h.apply_calendar(de_without({"2023-11-16", "2023-12-25"})));
  advance_to(h, "2023-11-17T12:00:00Z");
  CHECK(gaps(h, world.job) == "2023-11-16T09:00:00.000Z..2023-11-16T09:00:00.000Z 1 calendar_edited; ");
}

TEST_CASE("edited away: a moment at which another entry is due fires") {
  Harness h;
  REQUIRE(h.apply_calendar(de_without({})));
  const JobId job = h.apply(a_job()
                                .entries({"cron 0 0 9 * * ?; calendars de; otherwise previous", "cron 0 0 9 16 * ?"})
                                .overlap(model::Overlap::Allow));
  advance_to(h, "2023-11-15T12:00:00Z");
  REQUIRE(h.apply_calendar(de_without({"2023-11-16"})));
  advance_to(h, "2023-11-16T12:00:00Z");
  CHECK(ticks(h, job) == "2023-11-15T09:00 2023-11-16T09:00 ");
  CHECK(gaps(h, job).empty());
}

TEST_CASE("edited away: a working day that becomes one of the past, and a single moment") {
  Harness h;
  REQUIRE(h.apply_calendar(de_without({}, "mon-fri")));
  const JobId twelfth = h.apply(a_job("twelfth").entries({"working_day 12; time 18:00; calendars de"}));
  const JobId once = h.apply(a_job("once").entries({"at 2023-11-16T10:30:00.250Z; calendars de; otherwise previous"}));
  advance_to(h, "2023-11-15T19:00:00Z");
  REQUIRE(h.apply_calendar(de_without({"2023-11-16"}, "mon-fri")));
  advance_to(h, "2023-11-15T20:00:00Z");  // then the 12th working day is the 12th of the month
  model::Calendar sundays = de_without({"2023-11-16"}, "mon-sun");
  REQUIRE(h.apply_calendar(sundays));
  advance_to(h, "2023-11-30T23:00:00Z");
  CHECK(ticks(h, twelfth).empty());
  CHECK(gaps(h, twelfth) == "2023-11-17T18:00:00.000Z..2023-11-17T18:00:00.000Z 1 calendar_edited; ");
  CHECK(gaps(h, once) == "2023-11-16T10:30:00.250Z..2023-11-16T10:30:00.250Z 1 calendar_edited; ");
}

TEST_CASE("edited away: late ticks on both sides of it still make one run") {
  MovedBack world("cron 0 0 8-10 * * ?; calendars de; otherwise previous");
  Harness& h = world.h;
  model::Calendar shorter = de_without({});
  shorter.hours["2023-11-16"] = "08:00-08:30";  // 09:00 and 10:00 go back to a day that is over
  REQUIRE(h.apply_calendar(shorter));
  advance_to(h, "2023-11-16T07:00:00Z");
  h.handle(HoldTicks{"the clock is wrong"});
  h.advance(std::chrono::hours{30});  // until 13:00 of the 17th
  h.handle(HoldTicks{""});
  h.tick();
  CHECK(ticks(h, world.job) == "2023-11-15T08:00 2023-11-15T09:00 2023-11-15T10:00 2023-11-17T10:00 ");
  CHECK(gaps(h, world.job) ==
        "2023-11-16T08:00:00.000Z..2023-11-16T08:00:00.000Z 1 coalesced_into; "
        "2023-11-16T09:00:00.000Z..2023-11-16T10:00:00.000Z 2 calendar_edited; "
        "2023-11-17T08:00:00.000Z..2023-11-17T09:00:00.000Z 2 coalesced_into; ");
}

TEST_CASE("edited away: a new leader records what the old one did not come to") {
  MovedBack world;
  REQUIRE(world.h.apply_calendar(de_without({"2023-11-16"})));
  Harness after(world.h.recovered(), {}, Epoch{8});
  after.now = world.h.now;
  advance_to(after, "2023-11-16T12:00:00Z");
  CHECK(gaps(after, world.job) == "2023-11-16T09:00:00.000Z..2023-11-16T09:00:00.000Z 1 calendar_edited; ");
}

TEST_CASE("edited away: a job that its last firing ended has nothing to lose any more") {
  Harness h;
  REQUIRE(h.apply_calendar(de_without({})));
  JobBuilder job = a_job().entries({"cron 0 0 9 * * ?; calendars de; otherwise previous", "cron 0 0 7 16 * ?"});
  const JobId id = h.apply(job.firings(2).overlap(model::Overlap::Allow));
  advance_to(h, "2023-11-15T12:00:00Z");
  REQUIRE(h.apply_calendar(de_without({"2023-11-16"})));
  advance_to(h, "2023-11-16T12:00:00Z");
  CHECK(ticks(h, id) == "2023-11-15T09:00 2023-11-16T07:00 ");
  CHECK(gaps(h, id).empty());
}

TEST_CASE("calendars: a working day that fired does not fire again weeks later, when another edit follows") {
  Harness h;
  model::Calendar calendar = de_without({}, "mon-fri");
  REQUIRE(h.apply_calendar(calendar));
  const JobId job = h.apply(a_job().entries({"working_day 1; time 12:00; calendars de"}));
  advance_to(h, "2023-12-02T00:00:00Z");
  CHECK(ticks(h, job) == "2023-12-01T12:00 ");
  calendar.exclude = {"2023-12-01..2023-12-28"};  // now the 29th is the first
  REQUIRE(h.apply_calendar(calendar));
  advance_to(h, "2023-12-27T00:00:00Z");
  calendar.description = "reviewed";
  REQUIRE(h.apply_calendar(calendar));
  advance_to(h, "2023-12-31T00:00:00Z");
  CHECK(ticks(h, job) == "2023-12-01T12:00 ");
}
