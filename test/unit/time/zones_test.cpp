#include "common/time/zones.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <thread>

#include "common/base/duration_text.h"

using namespace rota;
using namespace rota::timezone;

namespace {

std::int64_t seconds_of(const char* text) { return to_ms(parse_moment(text).value()) / 1000; }

std::int32_t offset_at(const model::ZoneRules& zone, const char* text) {
  const std::int64_t moment = seconds_of(text);
  std::int32_t offset = 0;
  for (const auto& change : zone.changes) {
    if (change.from_utc_s <= moment) offset = change.offset_s;
  }
  return offset;
}

}  // namespace

TEST_CASE("zones: UTC has one rule for all time") {
  const auto zone = load_zone("UTC").value();
  REQUIRE(zone->changes.size() == 1);
  CHECK(zone->changes[0].offset_s == 0);
  CHECK(zone->changes[0].from_utc_s == INT64_MIN);
}

TEST_CASE("zones: changes are exact to the second, in rising order, and real") {
  for (const char* name : {"Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                           "Africa/Casablanca", "Asia/Tehran", "Pacific/Apia"}) {
    CAPTURE(name);
    const auto zone = load_zone(name).value();
    CHECK(zone->name == name);
    for (std::size_t i = 1; i < zone->changes.size(); ++i) {
      CHECK(zone->changes[i].from_utc_s > zone->changes[i - 1].from_utc_s);
      CHECK(zone->changes[i].offset_s != zone->changes[i - 1].offset_s);
    }
  }
}

TEST_CASE("zones: offsets are right, also long after 2037") {
  const auto berlin = load_zone("Europe/Berlin").value();
  CHECK(offset_at(*berlin, "2026-03-29T00:59:59Z") == 3600);
  CHECK(offset_at(*berlin, "2026-03-29T01:00:00Z") == 7200);
  CHECK(offset_at(*berlin, "2026-10-25T01:00:00Z") == 3600);
  CHECK(offset_at(*berlin, "2150-07-01T00:00:00Z") == 7200);
  CHECK(offset_at(*berlin, "2199-12-31T00:00:00Z") == 3600);
  const auto lord_howe = load_zone("Australia/Lord_Howe").value();
  CHECK(offset_at(*lord_howe, "2026-01-01T00:00:00Z") == 39'600);
  CHECK(offset_at(*lord_howe, "2026-07-01T00:00:00Z") == 37'800);
  const auto apia = load_zone("Pacific/Apia").value();
  CHECK(offset_at(*apia, "2011-12-30T09:59:59Z") == -36'000);
  CHECK(offset_at(*apia, "2011-12-30T10:00:00Z") == 50'400);
}

TEST_CASE("zones: an unknown name is refused with the nearest ones") {
  const auto near = load_zone("Europe/Berln");
  REQUIRE_FALSE(near);
  CHECK(near.error().code == ErrorCode::InvalidArgument);
  CHECK(near.error().message.find("did you mean Europe/Berlin") != std::string::npos);
  CHECK(load_zone("berlin").error().message.find("Europe/Berlin") != std::string::npos);
  for (const char* name : {"", "/etc/localtime", "../zoneinfo/UTC", "localtime", "posix/UTC",
                           "Fixed/UTC+05:30:00", "libc:localtime", "Europe", "utc\n"}) {
    CAPTURE(name);
    CHECK_FALSE(load_zone(name));
  }
}

TEST_CASE("zones: names are listed in order") {
  const auto& names = zone_names();
  CHECK(names.size() > 400);
  CHECK(std::is_sorted(names.begin(), names.end()));
  CHECK(std::find(names.begin(), names.end(), "Asia/Shanghai") != names.end());
}

TEST_CASE("zones: many threads share one value") {
  const auto first = load_zone("Asia/Tokyo").value();
  std::vector<std::jthread> threads;
  std::atomic<int> same{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] { same += load_zone("Asia/Tokyo").value() == first ? 1 : 0; });
  }
  threads.clear();
  CHECK(same == 8);
}
