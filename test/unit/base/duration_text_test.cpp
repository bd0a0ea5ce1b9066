#include "common/base/duration_text.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace std::chrono_literals;

TEST_CASE("duration: reads sums of units, the longest first") {
  CHECK(parse_duration("1h30m").value() == 90min);
  CHECK(parse_duration("500ms").value() == 500ms);
  CHECK(parse_duration("2d").value() == 48h);
  CHECK(parse_duration("1d2h3m4s5ms").value() == 24h + 2h + 3min + 4s + 5ms);
  CHECK(parse_duration("90s").value() == 90s);
  CHECK(parse_duration("0").value() == 0ms);
}

TEST_CASE("duration: refuses texts that could be misread") {
  for (const char* text : {"", "5", "1.5h", "-1s", "s", "1 h", "1m1h", "1s1s", "1x", "1h30",
                           "99999999999999999999s", "36526d", "1H"}) {
    CAPTURE(text);
    const auto result = parse_duration(text);
    REQUIRE_FALSE(result);
    CHECK(result.error().code == ErrorCode::InvalidArgument);
    CHECK(result.error().message.find("write it like") != std::string::npos);
  }
}

TEST_CASE("duration: reads back what it writes") {
  for (const auto duration : {Millis{0}, Millis{1}, Millis{999}, Millis{60'000}, Millis{5'400'000},
                              Millis{86'400'000}, Millis{90'061'001}}) {
    const std::string text = format_duration(duration);
    CAPTURE(text);
    CHECK(parse_duration(text).value() == duration);
  }
  CHECK(format_duration(90min) == "1h30m");
}

TEST_CASE("moment: reads RFC 3339 with its zone and writes it in UTC") {
  CHECK(format_moment(parse_moment("2026-03-29T02:30:00Z").value()) == "2026-03-29T02:30:00.000Z");
  CHECK(format_moment(parse_moment("2026-03-29T02:30:00+02:00").value()) ==
        "2026-03-29T00:30:00.000Z");
  CHECK(format_moment(parse_moment("2026-03-29 02:30:00.12345-0330").value()) ==
        "2026-03-29T06:00:00.123Z");
}

TEST_CASE("moment: refuses a text that is not a moment") {
  for (const char* text :
       {"", "2026-03-29", "2026-03-29T02:30:00", "2026-02-30T00:00:00Z", "2026-03-29T24:00:00Z",
        "2026-03-29T02:30:00+2", "2026-13-01T00:00:00Z", "1969-12-31T23:59:59Z",
        "2026-03-29T02:30:00.Z", "2026/03/29T02:30:00Z", "2026-03-29T02:30:00Zulu"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_moment(text));
  }
}
