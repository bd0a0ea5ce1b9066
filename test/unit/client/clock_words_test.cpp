#include "client/clock_words.h"

#include <doctest/doctest.h>

#include "common/base/duration_text.h"
#include "common/time/zones.h"

using namespace rota;

namespace {

std::string words(const char* zone, const char* at, const char* cron = "") {
  return client::clock_words(**timezone::load_zone(zone), to_ms(*parse_moment(at)), cron);
}

}  // namespace

TEST_CASE("clock words: a time that spring skips is told, with the one at which it runs") {
  CHECK(words("Europe/Berlin", "2026-03-29T01:00:00Z", "30 2 * * *") ==
        "clocks forward: 02:30 does not exist, runs at 03:00");
  CHECK(words("Europe/Berlin", "2026-03-29T01:00:00Z", "0 15 2 * * ?") ==
        "clocks forward: 02:15 does not exist, runs at 03:00");
  CHECK(words("Europe/Berlin", "2026-03-29T01:00:00Z", "*/5 2 * * *") == "clocks forward: 02:00 to 03:00 does not exist");
  CHECK(words("Europe/Berlin", "2026-03-29T01:00:00Z", "0 3 * * *") == "clocks forward: 02:00 to 03:00 does not exist");
  CHECK(words("Australia/Lord_Howe", "2026-10-03T15:30:00Z", "10 2 * * *") ==
        "clocks forward: 02:10 does not exist, runs at 02:30");
}

TEST_CASE("clock words: of a time that autumn repeats it is told which one it is") {
  CHECK(words("Europe/Berlin", "2026-10-25T00:30:00Z") == "clocks back: 02:30 comes twice, this is the first");
  CHECK(words("Europe/Berlin", "2026-10-25T01:30:00Z") == "clocks back: 02:30 comes twice, this is the second");
  CHECK(words("Europe/Berlin", "2026-10-25T00:00:00Z") == "clocks back: 02:00 comes twice, this is the first");
  CHECK(words("Europe/Berlin", "2026-10-25T01:00:00Z") == "clocks back: 02:00 comes twice, this is the second");
}

TEST_CASE("clock words: of all other times nothing is told") {
  for (const char* at : {"2026-10-24T23:59:59Z", "2026-10-25T02:00:00Z", "2026-03-29T01:00:01Z", "2026-03-29T00:59:59Z",
                         "2026-07-01T00:00:00Z"}) {
    CHECK_MESSAGE(words("Europe/Berlin", at, "30 2 * * *") == "", at);
  }
  CHECK(words("UTC", "2026-10-25T00:30:00Z") == "");
}
