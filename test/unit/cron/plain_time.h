// Crons, zones and their moments by so plain a way that it can be seen to be right; what the brute force
// tests compare with.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "test/unit/cron/cron_cases.h"

namespace rota::plain {

/// A cron field made by dice: its text, and the values that it stands for.
struct DiceField {
  std::string text;
  std::set<int> values;
  bool star = false;
};

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  int roll(int min, int max) {
    return min + static_cast<int>(random_() % static_cast<unsigned>(max - min + 1));
  }

 private:
  std::mt19937 random_;
};

inline DiceField star_field(int min, int max, int step) {
  DiceField field{step == 1 ? "*" : "*/" + std::to_string(step), {}, true};
  for (int value = min; value <= max; value += step) field.values.insert(value);
  return field;
}

inline DiceField listed_field(Dice& dice, int min, int max) {
  DiceField field;
  const int items = dice.roll(1, 3);
  for (int i = 0; i < items; ++i) {
    const int from = dice.roll(min, max);
    int to = dice.roll(0, 2) == 0 ? std::min(max, from + dice.roll(1, 5)) : from;
    if (from == min && to == max) to = from;  // that would be a wildcard
    field.text += (i > 0 ? "," : "") + std::to_string(from);
    if (to != from) field.text += "-" + std::to_string(to);
    for (int value = from; value <= to; ++value) field.values.insert(value);
  }
  return field;
}

inline DiceField dice_field(Dice& dice, int min, int max, int star_in_ten) {
  if (dice.roll(1, 10) <= star_in_ten) {
    return star_field(min, max, dice.roll(0, 1) == 0 ? 1 : dice.roll(2, std::min(max, 20)));
  }
  return listed_field(dice, min, max);
}

struct DiceCron {
  DiceField minute, hour, month_day, month, weekday;

  std::string text() const {
    return minute.text + " " + hour.text + " " + month_day.text + " " + month.text + " " +
           weekday.text;
  }
  bool follows_elapsed_time() const { return minute.star || hour.star; }

  bool matches(std::int64_t local_minutes) const {
    using namespace std::chrono;
    const sys_days day{days{local_minutes / 1440}};
    const year_month_day date{day};
    const int time = static_cast<int>(local_minutes % 1440);
    const bool by_day = month_day.values.contains(static_cast<int>(unsigned(date.day())));
    const bool by_weekday =
        weekday.values.contains(static_cast<int>(std::chrono::weekday{day}.c_encoding()));
    const bool both = month_day.star || weekday.star;
    return minute.values.contains(time % 60) && hour.values.contains(time / 60) &&
           month.values.contains(static_cast<int>(unsigned(date.month()))) &&
           (both ? by_day && by_weekday : by_day || by_weekday);
  }
};

inline DiceCron dice_cron(Dice& dice) {
  return {dice_field(dice, 0, 59, 3), dice_field(dice, 0, 23, 3), dice_field(dice, 1, 31, 6),
          dice_field(dice, 1, 12, 9), dice_field(dice, 0, 6, 6)};
}

inline std::int64_t offset_at(const model::ZoneRules& zone, std::int64_t utc_s) {
  std::int64_t offset = 0;
  for (const auto& change : zone.changes) {
    if (change.from_utc_s <= utc_s) offset = change.offset_s;
  }
  return offset;
}

/// Every UTC minute at which the zone shows this local minute, in order.
inline std::vector<std::int64_t> passages(const model::ZoneRules& zone, std::int64_t local_minutes) {
  std::set<std::int64_t> offsets;
  for (const auto& change : zone.changes) offsets.insert(change.offset_s);
  std::vector<std::int64_t> found;
  for (const auto offset : offsets) {
    const std::int64_t utc_s = local_minutes * 60 - offset;
    if (offset_at(zone, utc_s) == offset) found.push_back(utc_s);
  }
  std::sort(found.begin(), found.end());
  return found;
}

inline std::int64_t end_of_gap(const model::ZoneRules& zone, std::int64_t local_minutes) {
  for (std::size_t i = 1; i < zone.changes.size(); ++i) {
    const auto& change = zone.changes[i];
    const std::int64_t local = local_minutes * 60;
    if (local >= change.from_utc_s + zone.changes[i - 1].offset_s &&
        local < change.from_utc_s + change.offset_s) {
      return change.from_utc_s;
    }
  }
  FAIL("no gap");
  return 0;
}

struct Window {
  const char* zone;
  const char* from;
};

// Four days around a change, and around none.
inline constexpr Window kWindows[] = {
    {"Europe/Berlin", "2026-03-27T12:00:00Z"},
    {"Europe/Berlin", "2026-10-23T12:00:00Z"},
    {"America/New_York", "2026-03-06T12:00:00Z"},
    {"America/New_York", "2026-10-30T12:00:00Z"},
    {"Australia/Lord_Howe", "2026-04-02T12:00:00Z"},
    {"Australia/Lord_Howe", "2026-10-01T12:00:00Z"},
    {"Asia/Tehran", "2022-03-20T12:00:00Z"},
    {"Asia/Tehran", "2022-09-20T12:00:00Z"},
    {"Pacific/Apia", "2011-12-28T12:00:00Z"},
    {"Africa/Casablanca", "2026-02-13T12:00:00Z"},
    {"Europe/Berlin", "2026-12-30T12:00:00Z"},
    {"UTC", "2028-02-27T12:00:00Z"},
};

}  // namespace rota::plain
