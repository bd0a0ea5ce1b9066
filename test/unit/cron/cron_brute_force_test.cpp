// next_after against an enumerator so plain that it can be seen to be right: it looks at every
// minute of every day around the changes of a zone.
#include <algorithm>
#include <chrono>
#include <random>
#include <set>

#include "test/unit/cron/cron_cases.h"

using namespace rota;
using namespace rota::master::core;
using model::RepeatedTime;
using model::SkippedTime;

namespace {

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

DiceField star_field(int min, int max, int step) {
  DiceField field{step == 1 ? "*" : "*/" + std::to_string(step), {}, true};
  for (int value = min; value <= max; value += step) field.values.insert(value);
  return field;
}

DiceField listed_field(Dice& dice, int min, int max) {
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

DiceField dice_field(Dice& dice, int min, int max, int star_in_ten) {
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

DiceCron dice_cron(Dice& dice) {
  return {dice_field(dice, 0, 59, 3), dice_field(dice, 0, 23, 3), dice_field(dice, 1, 31, 6),
          dice_field(dice, 1, 12, 9), dice_field(dice, 0, 6, 6)};
}

std::int64_t offset_at(const model::ZoneRules& zone, std::int64_t utc_s) {
  std::int64_t offset = 0;
  for (const auto& change : zone.changes) {
    if (change.from_utc_s <= utc_s) offset = change.offset_s;
  }
  return offset;
}

/// Every UTC minute at which the zone shows this local minute, in order.
std::vector<std::int64_t> passages(const model::ZoneRules& zone, std::int64_t local_minutes) {
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

std::int64_t end_of_gap(const model::ZoneRules& zone, std::int64_t local_minutes) {
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

std::set<std::int64_t> plain_moments(const DiceCron& cron, const model::ZoneRules& zone,
                                     const Rules& rules, std::int64_t from_s, std::int64_t to_s) {
  std::set<std::int64_t> out;
  for (std::int64_t local = from_s / 60 - 2000; local < to_s / 60 + 2000; ++local) {
    if (!cron.matches(local)) continue;
    const auto found = passages(zone, local);
    if (cron.follows_elapsed_time() || rules.repeated == RepeatedTime::Both) {
      out.insert(found.begin(), found.end());
    } else if (!found.empty()) {
      out.insert(rules.repeated == RepeatedTime::First ? found.front() : found.back());
    }
    if (found.empty() && !cron.follows_elapsed_time() && rules.skipped == SkippedTime::RunAtEnd) {
      out.insert(end_of_gap(zone, local));
    }
  }
  std::erase_if(out, [&](std::int64_t s) { return s <= from_s || s > to_s; });
  return out;
}

std::set<std::int64_t> our_moments(const CronExpression& cron, const model::ZoneRules& zone,
                                   const Rules& rules, std::int64_t from_s, std::int64_t to_s) {
  std::set<std::int64_t> out;
  auto moment = next_after(cron, zone, rules.skipped, rules.repeated, wall_from_ms(from_s * 1000));
  while (moment && to_ms(*moment) <= to_s * 1000) {
    out.insert(to_ms(*moment) / 1000);
    moment = next_after(cron, zone, rules.skipped, rules.repeated, *moment);
  }
  return out;
}

struct Window {
  const char* zone;
  const char* from;
};

// Four days around a change, and around none.
constexpr Window kWindows[] = {
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

}  // namespace

TEST_CASE("cron: agrees with looking at every minute") {
  constexpr unsigned kSeed = 20'260'329;
  constexpr std::int64_t kFourDays = 4 * 86'400;
  Dice dice(kSeed);
  std::size_t compared = 0;
  for (int round = 0; round < 40; ++round) {
    for (const auto& window : kWindows) {
      const DiceCron made = dice_cron(dice);
      const auto cron = parse_cron(made.text());
      if (!cron) continue;  // can never fire, like 31 April
      const auto zone = zone_of(window.zone);
      const Rules rules{dice.roll(0, 1) == 0 ? SkippedTime::RunAtEnd : SkippedTime::Skip,
                        static_cast<RepeatedTime>(dice.roll(0, 2))};
      const std::int64_t from = to_ms(at(window.from)) / 1000;
      const auto expected = plain_moments(made, *zone, rules, from, from + kFourDays);
      const auto found = our_moments(*cron, *zone, rules, from, from + kFourDays);
      CAPTURE(made.text());
      CAPTURE(window.zone);
      CAPTURE(static_cast<int>(rules.repeated));
      CHECK(found == expected);
      CHECK(cron->follows_elapsed_time == made.follows_elapsed_time());
      compared += expected.size();
    }
  }
  MESSAGE("moments compared: ", compared);
  CHECK(compared > 5'000);
}
