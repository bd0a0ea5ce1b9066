// What the tests of cron share: reading an expression, asking for its next moments.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "common/base/duration_text.h"
#include "common/time/zones.h"
#include "master/core/time/cron.h"

namespace rota::master::core {

inline WallTime at(const std::string& text) {
  const auto moment = parse_moment(text);
  if (!moment) FAIL(moment.error().message);
  return *moment;
}

inline CronExpression cron_of(const std::string& text,
                              model::CronDialect dialect = model::CronDialect::Guess) {
  auto cron = parse_cron(text, dialect);
  if (!cron) FAIL(text << ": " << cron.error().message);
  return *cron;
}

inline std::shared_ptr<const model::ZoneRules> zone_of(const std::string& name) {
  const auto zone = timezone::load_zone(name);
  if (!zone) FAIL(zone.error().message);
  return *zone;
}

/// "2026-03-29T01:00" in UTC, with the seconds only where they are not 0.
inline std::string short_text(WallTime moment) {
  const std::string text = format_moment(moment);
  return text.substr(17, 2) == "00" ? text.substr(0, 16) : text.substr(0, 19);
}

struct Rules {
  model::SkippedTime skipped = model::SkippedTime::RunAtEnd;
  model::RepeatedTime repeated = model::RepeatedTime::First;
};

/// The next `count` moments in UTC, separated by spaces.
inline std::string next_moments(const CronExpression& cron, const std::string& zone,
                                const std::string& after, int count, Rules rules = {}) {
  const auto zone_rules = zone_of(zone);
  std::string out;
  auto moment = next_after(cron, *zone_rules, rules.skipped, rules.repeated, at(after));
  for (int i = 0; i < count && moment; ++i) {
    out += (out.empty() ? "" : " ") + short_text(*moment);
    moment = next_after(cron, *zone_rules, rules.skipped, rules.repeated, *moment);
  }
  return out;
}

/// The next `count` moments in UTC, separated by spaces.
template <typename Schedule>
std::string ticks_of(const Schedule& schedule, const std::string& after, int count) {
  std::string out;
  auto tick = schedule.next_after(at(after));
  for (int i = 0; i < count && tick; ++i) {
    out += (out.empty() ? "" : " ") + short_text(*tick);
    tick = schedule.next_after(*tick);
  }
  return out;
}

}  // namespace rota::master::core
