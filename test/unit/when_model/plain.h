// What the model of schedules is held against: entries and calendars as plain sets, and the moments that they
// plan, told by a walk over each day and each minute as docs/schedules.md and docs/calendars.md say. It shares
// the zone library and the arithmetic of dates with the product, and nothing else.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/model/calendar.h"
#include "common/model/zone.h"

namespace rota::when_model {

using Ms = std::int64_t;    // moments are in UTC, local times as if they were
using Day = std::int64_t;   // since 1970

inline constexpr Ms kMinute = 60'000;
inline constexpr Ms kDay = 86'400'000;

/// One version of a calendar, day by day.
struct PlainCalendar {
  Ms from = 0;                              ///< it counts from here on
  std::set<Day> include, exclude;
  std::set<int> weekdays;                   ///< 0 is Sunday
  std::map<Day, std::pair<Ms, Ms>> hours;   ///< both inside
  std::optional<std::pair<Day, Day>> covers;
  bool holds = false;
  model::ZonePtr zone;
};
using PlainCalendars = std::map<std::string, std::vector<PlainCalendar>>;

enum class Kind { Cron, Every, At, WorkingDay, AfterEnd };
enum class Move { Skip, Next, Previous };
enum class Repeated { First, Second, Both };

struct PlainEntry {
  Kind kind = Kind::Cron;
  std::string line;                         ///< as it is applied
  model::ZonePtr zone;
  // Cron
  std::set<int> seconds, minutes, hours;
  std::function<bool(std::chrono::year_month_day)> is_its_date;
  bool elapses = false;                     ///< minute or hour is a wildcard
  bool is_as_quartz = false;
  // Every, AfterEnd, At, WorkingDay
  Ms interval = 0;
  Ms at = 0;
  int nth = 0;
  Ms clock = 0;
  // all
  bool skips_gap = false;
  Repeated repeated = Repeated::First;
  std::optional<std::pair<Ms, Ms>> between; ///< both inside
  std::vector<std::string> calendars;
  Move move = Move::Skip;
  int asked_day = 0;
  Ms jitter = 0;                            ///< how much later its runs start
  std::optional<Ms> start, end;
};

/// What is planned in (after, through].
struct Plan {
  std::map<Ms, Ms> ticks;                   ///< with the smallest jitter of the entries that are due
  std::set<Ms> edited_away;                 ///< moments that edits of calendars took away
};

/// How far the zone is ahead of UTC.
Ms offset_at(const model::ZoneRules& zone, Ms moment);

void add_plan(const PlainEntry& entry, const PlainCalendars& calendars, Ms anchor, Ms after, Ms through, Plan& out);

/// Of an entry after_end: the first moment from `due` on at which it is open, at most so many days later.
std::optional<Ms> open_from(const PlainEntry& entry, const PlainCalendars& calendars, Ms due);

}  // namespace rota::when_model
