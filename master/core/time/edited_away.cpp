#include "master/core/time/edited_away.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>
#include <utility>

#include "master/core/time/cron_days.h"
#include "master/core/time/planned_times.h"

namespace rota::master::core {
namespace {

using model::ClockRange;
using model::kMillisOfDay;
using model::Otherwise;

/// Days from which something may be planned so near an edit that it falls between.
std::set<std::int64_t> days_near_edits(const DayRules& days) {
  std::set<std::int64_t> out;
  for (const std::int64_t at : days.switches()) {
    for (std::int64_t far = -kLongestShift; far <= kLongestShift; ++far) out.insert(day_number(at) + far);
  }
  return out;
}

/// Whether an edit changes anything of the days to which that one's times may be moved.
bool is_touched(const DayRules& days, std::int64_t source, int step) {
  const auto& stretches = days.stretches();
  for (int shifted = 0; shifted <= kLongestShift; ++shifted) {
    const std::int64_t day = source + shifted * step;
    const auto open = stretches.front().open_on(day);
    const bool is_held = stretches.front().is_held_on(day);
    for (std::size_t i = 1; i < stretches.size(); ++i) {
      if (stretches[i].is_held_on(day) != is_held || stretches[i].open_on(day) != open) return true;
    }
  }
  return false;
}

/// The times of that day between which all of them have the same fate.
std::set<std::int64_t> cuts_of(const DayRules& days, std::int64_t source, int step) {
  std::set<std::int64_t> out;
  for (const std::int64_t at : days.switches()) out.insert(at - day_number(at) * kMillisOfDay);
  for (int shifted = 0; shifted <= kLongestShift; ++shifted) {
    for (const DayRules& stretch : days.stretches()) {
      for (const ClockRange& open : stretch.open_on(source + shifted * step)) {
        out.insert(open.from_ms);
        out.insert(open.to_ms);
      }
    }
  }
  return out;
}

std::vector<ClockRange> cut(const ClockRange& range, const std::set<std::int64_t>& cuts) {
  std::vector<ClockRange> out;
  std::int64_t from = range.from_ms;
  for (auto at = cuts.upper_bound(from); at != cuts.end() && *at < range.to_ms; ++at) {
    out.push_back({from, *at});
    from = *at;
  }
  out.push_back({from, range.to_ms});
  return out;
}

std::vector<DayPart> in_order(std::vector<DayPart> parts) {
  std::ranges::sort(parts, [](const DayPart& a, const DayPart& b) {
    return std::pair(a.day, a.times.from_ms) < std::pair(b.day, b.times.from_ms);
  });
  std::vector<DayPart> out;
  for (const DayPart& part : parts) {
    const bool is_same_day = !out.empty() && out.back().day == part.day;
    const bool touches = is_same_day && out.back().times.to_ms >= part.times.from_ms;
    if (touches) out.back().times.to_ms = std::max(out.back().times.to_ms, part.times.to_ms);
    if (!touches) out.push_back(part);
  }
  return out;
}

/// When one logical time is planned under such rules, if it is: under those of one stretch, or through edits.
using Place = std::function<std::optional<std::int64_t>(const DayRules& days)>;

std::vector<std::int64_t> edited_away(const DayRules& days, const Place& place) {
  const std::vector<std::int64_t>& edits = days.switches();
  std::vector<std::optional<std::int64_t>> planned;
  for (const DayRules& stretch : days.stretches()) planned.push_back(place(stretch));
  const auto takes = [&](std::size_t i) {
    return planned[i] && planned[i + 1] && *planned[i] >= edits[i] && *planned[i + 1] < edits[i];
  };
  std::vector<std::int64_t> out;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (!takes(i)) continue;
    const std::int64_t moment = *planned[i];
    bool is_last = true;  // of those that were known then
    for (std::size_t later = i + 1; later < edits.size() && edits[later] <= moment; ++later) {
      is_last = is_last && !takes(later);
    }
    if (is_last && !place(days.known_at(moment))) out.push_back(moment);
  }
  return out;
}

}  // namespace

std::vector<std::int64_t> edited_away_of(std::int64_t local_ms, const DayRules& days, Otherwise otherwise) {
  return edited_away(days, [&](const DayRules& rules) { return moved_to_open(local_ms, rules, otherwise); });
}

std::vector<DayPart> edited_away_of_working_day(int nth, std::int64_t clock_ms, const DayRules& days) {
  using namespace std::chrono;
  std::set<sys_days> months;
  for (const std::int64_t at : days.switches()) {
    const year_month_day date{sys_days{std::chrono::days{day_number(at)}}};
    months.insert(sys_days{date.year() / date.month() / 1});
  }
  std::vector<DayPart> out;
  for (const sys_days& first : months) {
    const year_month_day date{first};
    const sys_days last{date.year() / date.month() / std::chrono::last};
    const auto moments = edited_away(days, [&](const DayRules& rules) -> std::optional<std::int64_t> {
      const auto planned = WorkingDayTimes(nth, clock_ms, rules)
                               .in_month(first.time_since_epoch().count(), last.time_since_epoch().count());
      return planned ? std::optional(*planned * 1000) : std::nullopt;
    });
    for (const std::int64_t at : moments) {
      const std::int64_t clock = at - day_number(at) * kMillisOfDay;
      out.push_back({day_number(at), {clock, clock + 1000}});
    }
  }
  return in_order(std::move(out));
}

std::vector<DayPart> edited_away_of_cron(const CronExpression& cron, const DayRules& days,
                                         Otherwise otherwise, const std::vector<ClockRange>& between) {
  std::vector<DayPart> out;
  if (otherwise == Otherwise::Skip || days.switches().empty()) return out;
  const int step = otherwise == Otherwise::Next ? 1 : -1;
  for (const std::int64_t source : days_near_edits(days)) {
    if (next_cron_day(cron, source) != source || !is_touched(days, source, step)) continue;
    const auto cuts = cuts_of(days, source, step);
    for (const ClockRange& range : between) {
      for (const ClockRange& part : cut(range, cuts)) {
        for (const std::int64_t at : edited_away_of(source * kMillisOfDay + part.from_ms, days, otherwise))
          out.push_back({day_number(at), part});
      }
    }
  }
  return in_order(std::move(out));
}

std::optional<std::int64_t> EditedAwayTimes::first_in(const DayPart& part, std::int64_t from_s) const {
  const std::int64_t begin = (part.times.from_ms + 999) / 1000;
  if (cron_ == nullptr) return begin >= from_s ? std::optional(begin) : std::nullopt;
  if (std::max(begin, from_s) >= kDaySeconds) return std::nullopt;
  const std::int64_t time = next_time_of_day(*cron_, static_cast<int>(std::max(begin, from_s)));
  return time >= 0 && time * 1000 < part.times.to_ms ? std::optional(time) : std::nullopt;
}

std::optional<std::int64_t> EditedAwayTimes::next(std::int64_t local_s) const {
  for (const DayPart& part : parts_) {
    const std::int64_t midnight = part.day * kDaySeconds;
    if (const auto time = first_in(part, local_s - midnight)) return midnight + *time;
  }
  return std::nullopt;
}

}  // namespace rota::master::core
