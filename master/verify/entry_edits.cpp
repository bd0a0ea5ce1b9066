// What edits of its calendars took from an entry: this folder's own enumeration.
#include <algorithm>
#include <chrono>

#include "master/verify/entry_ticks.h"

namespace rota::master::verify {

using model::EntryKind;

/// Of all logical times of which an edit may decide: the entry's one moment, its working day of the month of
/// the edit, its cron's of the weeks around it.
std::set<std::int64_t> EntryTicks::edited_away_local() const {
  using namespace std::chrono;
  constexpr std::int64_t kNear = 17;
  std::set<std::int64_t> out, cron_days;
  const auto add = [&out](const std::vector<std::int64_t>& some) { out.insert(some.begin(), some.end()); };
  if (entry_.kind == EntryKind::At && entry_.start) {
    add(days_.edited_away(to_ms(*entry_.start) + offset_ms_at(*entry_.start)));
  }
  const std::int64_t clock_ms = entry_.time.empty() ? 0 : model::clock_from_text(entry_.time).value_or(0);
  for (const std::int64_t edit : days_.edits()) {
    const sys_days edit_day = floor<days>(sys_time<Millis>{Millis{edit}});
    const year_month_day date{edit_day};
    const sys_days first{date.year() / date.month() / 1};
    const sys_days last{date.year() / date.month() / std::chrono::last};
    if (entry_.kind == EntryKind::WorkingDay) {
      add(days_.working_day_edited_away(first.time_since_epoch().count(), last.time_since_epoch().count(),
                                        entry_.working_day, clock_ms));
    }
    if (entry_.kind != EntryKind::Cron || entry_.is_as_quartz || !days_.moves()) continue;
    const std::int64_t day = edit_day.time_since_epoch().count();
    for (std::int64_t far = -kNear; far <= kNear; ++far) cron_days.insert(day + far);
  }
  for (const std::int64_t day : cron_days) {
    if (!days_.is_edited_near(day)) continue;
    for_each_time(day, [&](std::int64_t local_ms) { add(days_.edited_away(local_ms)); });
  }
  return out;
}

std::set<WallTime> EntryTicks::edited_away(WallTime at, WallTime through) const {
  std::set<WallTime> out;
  if (days_.edits().empty()) return out;
  if (entry_.end) through = std::min(through, *entry_.end);
  if (entry_.start && entry_.kind != EntryKind::At) at = std::max(at, *entry_.start - Millis{1});
  for (const std::int64_t local : edited_away_local()) {
    const bool is_at = entry_.kind == EntryKind::At;
    const bool is_own = is_at && local == to_ms(*entry_.start) + offset_ms_at(*entry_.start);
    for (const WallTime moment : is_own ? std::vector{*entry_.start} : moments_of(local)) {
      if (moment > at && moment <= through) out.insert(moment);
    }
  }
  return out;
}

}  // namespace rota::master::verify
