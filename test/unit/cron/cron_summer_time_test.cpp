// P22: what becomes of a local time that does not exist, or exists twice.
#include "test/unit/cron/cron_cases.h"

using namespace rota;
using namespace rota::master::core;
using model::RepeatedTime;
using model::SkippedTime;

namespace {

std::string moments(const char* cron, const char* zone, const char* after, int count,
                    Rules rules = {}) {
  return next_moments(cron_of(cron), zone, after, count, rules);
}

constexpr Rules kSkip{SkippedTime::Skip, RepeatedTime::First};
constexpr Rules kSecond{SkippedTime::RunAtEnd, RepeatedTime::Second};
constexpr Rules kBoth{SkippedTime::RunAtEnd, RepeatedTime::Both};

}  // namespace

// Europe/Berlin 2026: 29 March 02:00 +01 -> 03:00 +02 at 01:00 UTC;
// 25 October 03:00 +02 -> 02:00 +01 at 01:00 UTC.
TEST_CASE("summer time: a fixed time that is skipped fires once, at the end of what is skipped") {
  CHECK(moments("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 3) ==
        "2026-03-28T01:30 2026-03-29T01:00 2026-03-30T00:30");
  CHECK(moments("0 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2) ==
        "2026-03-29T01:00 2026-03-30T00:00");
  // Several times in what is skipped, and one at its end, are one moment.
  CHECK(moments("0,15,45 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2) ==
        "2026-03-29T01:00 2026-03-30T00:00");
  CHECK(moments("0 2,3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 3) ==
        "2026-03-29T01:00 2026-03-30T00:00 2026-03-30T01:00");
  // Around it nothing changes.
  CHECK(moments("59 1 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 1) == "2026-03-29T00:59");
  CHECK(moments("0 3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 1) == "2026-03-29T01:00");
}

TEST_CASE("summer time: a fixed time that is skipped can be left out") {
  CHECK(moments("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 2, kSkip) ==
        "2026-03-28T01:30 2026-03-30T00:30");
  CHECK(moments("0 3 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 1, kSkip) ==
        "2026-03-29T01:00");
}

TEST_CASE("summer time: asked from the end of what is skipped itself, or just before") {
  CHECK(moments("30 2 * * *", "Europe/Berlin", "2026-03-29T00:59:59.999Z", 1) ==
        "2026-03-29T01:00");
  CHECK(moments("30 2 * * *", "Europe/Berlin", "2026-03-29T01:00:00Z", 1) == "2026-03-30T00:30");
}

TEST_CASE("summer time: a fixed time that is repeated fires at its first passage") {
  CHECK(moments("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2) ==
        "2026-10-25T00:30 2026-10-26T01:30");
  CHECK(moments("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2, kSecond) ==
        "2026-10-25T01:30 2026-10-26T01:30");
  CHECK(moments("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 3, kBoth) ==
        "2026-10-25T00:30 2026-10-25T01:30 2026-10-26T01:30");
}

TEST_CASE("summer time: the borders of what is repeated") {
  CHECK(moments("0 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2) ==
        "2026-10-25T00:00 2026-10-26T01:00");
  CHECK(moments("0 3 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 1) == "2026-10-25T02:00");
  CHECK(moments("0 3 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 1, kSecond) ==
        "2026-10-25T02:00");
  CHECK(moments("0 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 1, kSecond) ==
        "2026-10-25T01:00");
  CHECK(moments("0,30 1-3 * * *", "Europe/Berlin", "2026-10-24T22:00:00Z", 6) ==
        "2026-10-24T23:00 2026-10-24T23:30 2026-10-25T00:00 2026-10-25T00:30 2026-10-25T02:00 "
        "2026-10-25T02:30");
}

TEST_CASE("summer time: the last year of a cron still has its second passage") {
  CHECK(moments("0 30 2 25 10 ? 2026", "Europe/Berlin", "2026-10-24T12:00:00Z", 3, kBoth) ==
        "2026-10-25T00:30 2026-10-25T01:30");
  CHECK(moments("0 30 2 25 10 ? 2026", "Europe/Berlin", "2026-10-24T12:00:00Z", 3, kSecond) ==
        "2026-10-25T01:30");
}

TEST_CASE("summer time: wildcards follow elapsed time") {
  CHECK(moments("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", 4) ==
        "2026-03-29T00:30 2026-03-29T01:00 2026-03-29T01:30 2026-03-29T02:00");
  CHECK(moments("0 * * * *", "Europe/Berlin", "2026-10-24T23:00:00Z", 4) ==
        "2026-10-25T00:00 2026-10-25T01:00 2026-10-25T02:00 2026-10-25T03:00");
  CHECK(moments("*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2) ==
        "2026-03-30T00:00 2026-03-30T00:30");
  CHECK(moments("*/30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 5) ==
        "2026-10-25T00:00 2026-10-25T00:30 2026-10-25T01:00 2026-10-25T01:30 2026-10-26T01:00");
  CHECK(moments("0 */2 * * *", "Europe/Berlin", "2026-03-28T23:00:00Z", 2) ==
        "2026-03-29T02:00 2026-03-29T04:00");
}

// America/New_York 2026: 8 March 02:00 -05 -> 03:00 -04 at 07:00 UTC; 1 November 06:00 UTC.
TEST_CASE("summer time: New York") {
  CHECK(moments("30 2 * * *", "America/New_York", "2026-03-07T12:00:00Z", 2) ==
        "2026-03-08T07:00 2026-03-09T06:30");
  CHECK(moments("30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", 2) ==
        "2026-11-01T05:30 2026-11-02T06:30");
  CHECK(moments("30 1 * * *", "America/New_York", "2026-10-31T12:00:00Z", 2, kSecond) ==
        "2026-11-01T06:30 2026-11-02T06:30");
  CHECK(moments("0 9 * * MON-FRI", "America/New_York", "2026-03-06T15:00:00Z", 1) ==
        "2026-03-09T13:00");
}

// Australia/Lord_Howe moves by half an hour: 5 April 2026 02:00 +11 -> 01:30 +10:30 at 15:00 UTC
// of the 4th; 4 October 02:00 +10:30 -> 02:30 +11 at 15:30 UTC of the 3rd.
TEST_CASE("summer time: half an hour on Lord Howe") {
  CHECK(moments("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", 2) ==
        "2026-04-04T14:45 2026-04-05T15:15");
  CHECK(moments("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", 2, kBoth) ==
        "2026-04-04T14:45 2026-04-04T15:15");
  CHECK(moments("15 1 * * *", "Australia/Lord_Howe", "2026-04-04T00:00:00Z", 2, kBoth) ==
        "2026-04-04T14:15 2026-04-05T14:45");
  CHECK(moments("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", 2) ==
        "2026-10-03T15:30 2026-10-04T15:15");
  CHECK(moments("0 * * * *", "Australia/Lord_Howe", "2026-10-03T13:00:00Z", 4) ==
        "2026-10-03T13:30 2026-10-03T14:30 2026-10-03T16:00 2026-10-03T17:00");
}

// Asia/Tehran changed at midnight until 2022: 22 March 00:00 +03:30 -> 01:00 +04:30.
TEST_CASE("summer time: a midnight that is skipped in Tehran") {
  CHECK(moments("0 0 * * *", "Asia/Tehran", "2022-03-20T21:00:00Z", 2) ==
        "2022-03-21T20:30 2022-03-22T19:30");
  CHECK(moments("30 0 22 * *", "Asia/Tehran", "2022-03-20T21:00:00Z", 1) == "2022-03-21T20:30");
  CHECK(moments("30 23 * * *", "Asia/Tehran", "2022-09-21T12:00:00Z", 2) ==
        "2022-09-21T19:00 2022-09-22T20:00");
  CHECK(moments("0 12 * * *", "Asia/Tehran", "2026-03-21T12:00:00Z", 2) ==
        "2026-03-22T08:30 2026-03-23T08:30");
}

// Pacific/Apia went from 29 December 2011 24:00 -10 to 31 December 00:00 +14, at 10:00 UTC.
TEST_CASE("summer time: the day that Samoa left out") {
  CHECK(moments("0 9 * * *", "Pacific/Apia", "2011-12-29T00:00:00Z", 3) ==
        "2011-12-29T19:00 2011-12-30T10:00 2011-12-30T19:00");
  CHECK(moments("0 9 * * *", "Pacific/Apia", "2011-12-29T00:00:00Z", 2, kSkip) ==
        "2011-12-29T19:00 2011-12-30T19:00");
  CHECK(moments("0 * * * *", "Pacific/Apia", "2011-12-30T08:30:00Z", 3) ==
        "2011-12-30T09:00 2011-12-30T10:00 2011-12-30T11:00");
}
