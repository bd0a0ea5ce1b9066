#include "master/core/time/day_set.h"

#include <set>

#include "test/unit/cron/plain_time.h"
#include "test/unit/when/when_cases.h"

using namespace rota;
using namespace rota::master::core;

namespace {

model::DayRange days(std::int64_t first, std::int64_t last) {
  return {model::Day{std::chrono::days{first}}, model::Day{std::chrono::days{last}}};
}

bool is_weekday(std::int64_t day, unsigned weekdays) { return (weekdays >> (day + 4) % 7 & 1) != 0; }

}  // namespace

TEST_CASE("day set: tells each day as a plain set does") {
  constexpr std::int64_t kFrom = kLastCalendarDay - 2000;
  plain::Dice dice(20261123);
  for (int round = 0; round < 40; ++round) {
    const auto weekdays = static_cast<unsigned>(dice.roll(0, 127));
    DaySet made(weekdays);
    std::set<std::int64_t> plain;
    for (std::int64_t day = kFrom; day <= kLastCalendarDay; ++day) {
      if (is_weekday(day, weekdays)) plain.insert(day);
    }
    for (int left = dice.roll(0, 5); left > 0; --left) {
      const std::int64_t first = kFrom + dice.roll(0, 1900), last = first + dice.roll(0, 200);
      const auto some = static_cast<unsigned>(dice.roll(0, 127));
      made.set(days(first, last), some);
      for (std::int64_t day = first; day <= std::min(last, kLastCalendarDay); ++day) {
        plain.erase(day);
        if (is_weekday(day, some)) plain.insert(day);
      }
    }
    const auto last = plain.empty() ? std::nullopt : std::optional(*plain.rbegin());
    if (weekdays == 0 || !plain.empty()) CHECK(made.last() == last);
    for (std::int64_t day = kFrom; day <= kLastCalendarDay + 3; ++day) {
      const auto next = plain.lower_bound(day);
      REQUIRE(made.has(day) == plain.contains(day));
      REQUIRE(made.next(day) == (next == plain.end() ? std::nullopt : std::optional(*next)));
    }
  }
}

TEST_CASE("day set: the 64 days from one on, also before 1970 and behind 2199") {
  DaySet set(0x3e);  // Monday to Friday
  set.set(days(100, 163), 0);
  CHECK(set.from(100) == 0);
  for (const std::int64_t first : {std::int64_t{-70}, std::int64_t{-3}, std::int64_t{70}, kLastCalendarDay - 30}) {
    for (std::int64_t i = 0; i < 64; ++i) CHECK((set.from(first) >> i & 1) == (set.has(first + i) ? 1u : 0u));
  }
  CHECK(set.from(kLastCalendarDay + 1) == 0);
  CHECK(DaySet().next(0) == std::nullopt);
  CHECK(DaySet().last() == std::nullopt);
}
