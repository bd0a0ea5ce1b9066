// Entries against an enumerator so plain that it can be seen to be right: it
// looks at every minute of every day around, moves it day by day, and looks at
// every offset of the zone.
#include <algorithm>
#include <set>

#include "test/unit/cron/plain_time.h"
#include "test/unit/when/when_cases.h"

using namespace rota;
using namespace rota::master::core;
using namespace rota::plain;
using model::Otherwise;
using model::RepeatedTime;
using model::SkippedTime;

namespace {

constexpr std::int64_t kDayMinutes = 1440;
constexpr std::int64_t kWindowSeconds = 6 * 86'400;

/// A calendar by its days, written out one by one.
struct PlainCalendar {
  model::Calendar calendar;
  std::set<std::int64_t> include, exclude;
  std::map<std::int64_t, std::pair<int, int>> hours;  ///< minutes of the day, both inside
  std::set<int> weekdays;

  bool is_open(std::int64_t day, std::int64_t minute) const {
    const int weekday = static_cast<int>(((day + 4) % 7 + 7) % 7);  // 1970 began on a Thursday
    if (!include.contains(day) && (exclude.contains(day) || !weekdays.contains(weekday))) return false;
    const auto found = hours.find(day);
    return found == hours.end() || (minute >= found->second.first && minute <= found->second.second);
  }
};

std::string text_of(std::int64_t day) { return model::day_to_text(model::Day{std::chrono::days{day}}); }

std::string clock(int minute) {
  const auto two = [](int n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return two(minute / 60) + ":" + two(minute % 60);
}

PlainCalendar dice_calendar(Dice& dice, std::int64_t near, const std::string& zone) {
  static constexpr const char* kNames[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
  PlainCalendar out;
  out.calendar.name = "made";
  out.calendar.time_zone = zone;
  out.calendar.days.clear();
  for (int weekday = 0; weekday < 7; ++weekday) {
    if (dice.roll(0, 2) == 0 && weekday != 3) continue;
    out.weekdays.insert(weekday);
    out.calendar.days += (out.calendar.days.empty() ? "" : ",") + std::string(kNames[weekday]);
  }
  for (int i = dice.roll(0, 3); i > 0; --i) {
    const std::int64_t first = near + dice.roll(-12, 16);
    const std::int64_t last = first + dice.roll(0, 9);
    out.calendar.exclude.push_back(text_of(first) + ".." + text_of(last));
    for (std::int64_t day = first; day <= last; ++day) out.exclude.insert(day);
  }
  for (int i = dice.roll(0, 2); i > 0; --i) {
    const std::int64_t day = near + dice.roll(-12, 16);
    out.calendar.include.push_back(text_of(day));
    out.include.insert(day);
  }
  for (int i = dice.roll(0, 2); i > 0; --i) {
    const std::int64_t day = near + dice.roll(-2, 8);
    const int from = dice.roll(0, 1200);
    const int to = from + dice.roll(0, 200);
    if (!out.hours.insert({day, {from, to}}).second) continue;
    out.calendar.hours[text_of(day)] = clock(from) + "-" + clock(to);
  }
  return out;
}

struct Case {
  DiceCron cron;
  std::vector<PlainCalendar> calendars;
  model::ScheduleEntry entry;
  std::set<std::int64_t> between;  ///< minutes of the day
};

bool is_open(const Case& made, std::int64_t day, std::int64_t minute) {
  return std::ranges::all_of(made.calendars, [&](const PlainCalendar& calendar) {
    // Hours lie on the day that is asked for.
    return calendar.is_open(day + made.entry.day, minute - made.entry.day * kDayMinutes);
  });
}

/// Day by day to one that is open.
std::optional<std::int64_t> planned(const Case& made, std::int64_t local_minutes) {
  for (int moved = 0; moved <= 15; ++moved) {
    const std::int64_t step = made.entry.otherwise == Otherwise::Next ? moved : -moved;
    const std::int64_t at_minute = local_minutes + step * kDayMinutes;
    if (is_open(made, at_minute / kDayMinutes, at_minute % kDayMinutes)) return at_minute;
    if (made.entry.otherwise == Otherwise::Skip) break;
  }
  return std::nullopt;
}

/// Only the changes around the window: all of them would be looked at for each
/// minute.
model::ZoneRules near(const model::ZoneRules& zone, std::int64_t from_s) {
  constexpr std::int64_t kNear = 60 * 86'400;
  model::ZoneRules out{zone.name, {}};
  for (const auto& change : zone.changes) {
    if (change.from_utc_s > from_s + kNear) break;
    if (change.from_utc_s < from_s - kNear) out.changes.clear();
    out.changes.push_back(change);
  }
  return out;
}

std::set<std::int64_t> plain_moments(const Case& made, const model::ZoneRules& zone, std::int64_t from_s) {
  std::set<std::int64_t> out;
  const bool both = made.cron.follows_elapsed_time() || made.entry.repeated_time == RepeatedTime::Both;
  constexpr std::int64_t kReach = 18 * kDayMinutes;
  for (std::int64_t local = from_s / 60 - kReach; local < (from_s + kWindowSeconds) / 60 + kReach;
       ++local) {
    if (!made.between.contains(local % kDayMinutes) || !made.cron.matches(local)) continue;
    const auto moved = planned(made, local);
    if (!moved) continue;
    const auto found = passages(zone, *moved);
    if (both) out.insert(found.begin(), found.end());
    if (!both && !found.empty()) {
      out.insert(made.entry.repeated_time == RepeatedTime::First ? found.front() : found.back());
    }
    if (found.empty() && !made.cron.follows_elapsed_time() &&
        made.entry.skipped_time == SkippedTime::RunAtEnd) {
      out.insert(end_of_gap(zone, *moved));
    }
  }
  std::erase_if(out, [&](std::int64_t s) { return s <= from_s || s > from_s + kWindowSeconds; });
  return out;
}

std::set<std::int64_t> our_moments(const CompiledEntry& entry, std::int64_t from_s) {
  std::set<std::int64_t> out;
  auto moment = entry.next_after(wall_from_ms(from_s * 1000));
  while (moment && to_ms(*moment) <= (from_s + kWindowSeconds) * 1000) {
    out.insert(to_ms(*moment) / 1000);
    moment = entry.next_after(*moment);
  }
  return out;
}

Case dice_case(Dice& dice, const Window& window) {
  Case made{dice_cron(dice), {}, {}, {}};
  made.cron.month = star_field(1, 12, 1);  // else most windows are empty
  made.entry = cron_entry(made.cron.text(), window.zone);
  const std::int64_t near = to_ms(at(window.from)) / 86'400'000 + 2;
  for (int i = dice.roll(0, 2); i > 0; --i)
    made.calendars.push_back(dice_calendar(dice, near, window.zone));
  if (!made.calendars.empty()) {
    made.entry.otherwise = static_cast<Otherwise>(dice.roll(0, 2));
    made.entry.day = dice.roll(0, 3) == 0 ? -1 : 0;
  }
  made.entry.skipped_time = dice.roll(0, 1) == 0 ? SkippedTime::RunAtEnd : SkippedTime::Skip;
  made.entry.repeated_time = static_cast<RepeatedTime>(dice.roll(0, 2));
  int from = 0;
  int to = 1439;
  if (dice.roll(0, 2) == 0) {
    from = dice.roll(0, 1439);
    to = dice.roll(0, 1439);
    made.entry.between = clock(from) + "-" + clock(to);
  }
  for (int minute = from; minute != to; minute = (minute + 1) % 1440) made.between.insert(minute);
  made.between.insert(to);
  return made;
}

}  // namespace

TEST_CASE(
    "entry: agrees with looking at every minute, with calendars, shifts "
    "and hours") {
  constexpr unsigned kSeed = 20'260'214;
  Dice dice(kSeed);
  std::size_t compared = 0;
  std::size_t with_calendars = 0;
  for (int round = 0; round < 12; ++round) {
    for (const auto& window : kWindows) {
      const Case made = dice_case(dice, window);
      if (!parse_cron(made.entry.cron)) continue;
      std::vector<model::Calendar> calendars;
      for (const PlainCalendar& each : made.calendars) calendars.push_back(each.calendar);
      const CompiledEntry entry = compiled_entry(made.entry, calendars);
      const auto zone = zone_of(window.zone);
      const std::int64_t from = to_ms(at(window.from)) / 1000;
      const auto expected = plain_moments(made, near(*zone, from), from);
      const auto found = our_moments(entry, from);
      CAPTURE(made.entry.cron);
      CAPTURE(window.zone);
      CAPTURE(made.entry.between);
      CAPTURE(static_cast<int>(made.entry.otherwise));
      CAPTURE(made.entry.day);
      CHECK(found == expected);
      const WallTime begin = wall_from_ms(from * 1000);
      CHECK(entry.count_between(begin, begin + Millis{kWindowSeconds * 1000}, INT64_MAX) ==
            static_cast<std::int64_t>(expected.size()));
      compared += expected.size();
      if (!calendars.empty()) with_calendars += expected.size();
    }
  }
  MESSAGE("moments compared: ", compared, ", with calendars: ", with_calendars);
  CHECK(compared > 10'000);
  CHECK(with_calendars > 4'000);
}
