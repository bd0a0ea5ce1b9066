// next_after against an enumerator so plain that it can be seen to be right: it looks at every
// minute of every day around the changes of a zone.
#include <set>

#include "test/unit/cron/plain_time.h"

using namespace rota;
using namespace rota::master::core;
using namespace rota::plain;
using model::RepeatedTime;
using model::SkippedTime;

namespace {

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
