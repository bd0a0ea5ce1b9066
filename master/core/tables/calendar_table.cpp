#include "master/core/tables/calendar_table.h"

#include <algorithm>

#include "common/base/check.h"
#include "master/core/time/local_times.h"

namespace rota::master::core {
namespace {

CalendarName name_of(const model::CalendarRow& row) { return {row.space, row.calendar->name}; }

std::optional<WallTime> warning_of(const CalendarEntry& entry) {
  const auto end = end_of_cover(entry);
  return end ? std::optional(*end - kCoverWarning) : std::nullopt;
}

void forget_replaced(CalendarHistory& history, WallTime planned_from) {
  const auto later = std::ranges::find_if(history, [&](const CalendarVersion& version) {
    return version.from + kReplacedMatters > planned_from;
  });
  if (later - history.begin() > 1) history.erase(history.begin(), later - 1);
}

}  // namespace

std::optional<WallTime> end_of_cover(const CalendarEntry& entry) {
  if (entry.history().empty()) return std::nullopt;
  const CompiledCalendar& calendar = *entry.history().back().calendar;
  const auto covers = calendar.covers();
  if (!covers) return std::nullopt;
  const std::int64_t midnight = (covers->last.time_since_epoch().count() + 1) * model::kMillisOfDay;
  return moment_of_local(calendar.zone(), midnight);
}

const CalendarEntry* CalendarTable::find(const std::string& space, const std::string& name) const {
  const auto found = calendars_.find({space, name});
  return found == calendars_.end() || found->second.newest().deleted ? nullptr : &found->second;
}

std::int32_t CalendarTable::last_version(const std::string& space, const std::string& name) const {
  const auto found = calendars_.find({space, name});
  return found == calendars_.end() ? 0 : found->second.newest().version;
}

void CalendarTable::put(model::CalendarRow row, CalendarPtr compiled, WallTime planned_from) {
  CalendarEntry& entry = calendars_[name_of(row)];
  const bool was_live = entry.newest_.version > 0 && !entry.newest_.deleted;
  CHECK_OR_DIE(row.version > entry.newest_.version, "a version of a calendar that does not follow");
  if (const auto at = warning_of(entry)) {
    to_tell_.erase({*at, name_of(row)});
    ends_.erase({*at, name_of(row)});
  }
  CalendarHistory history;
  if (was_live && !row.deleted && compiled != nullptr) history = entry.history();
  if (!row.deleted && compiled != nullptr) history.push_back({row.from, std::move(compiled)});
  forget_replaced(history, planned_from);
  entry.history_ = std::make_shared<const CalendarHistory>(std::move(history));
  live_ += row.deleted ? 0 : 1;
  live_ -= was_live ? 1 : 0;
  entry.newest_ = std::move(row);
  if (const auto at = warning_of(entry)) {
    to_tell_.emplace(*at, name_of(entry.newest_));
    ends_.emplace(*at, name_of(entry.newest_));
  }
}

void CalendarTable::ask_to_replan(const IdSet<JobId>& jobs, WallTime before) {
  if (jobs.empty()) return;
  replan_before_ = to_replan_.empty() ? before : std::min(replan_before_, before);
  to_replan_.insert(jobs.begin(), jobs.end());
}

std::optional<JobId> CalendarTable::next_to_replan() {
  if (to_replan_.empty()) return std::nullopt;
  return to_replan_.extract(to_replan_.begin()).value();
}

const CalendarEntry* CalendarTable::next_ending(WallTime now) const {
  if (to_tell_.empty() || to_tell_.begin()->first > now) return nullptr;
  return &calendars_.at(to_tell_.begin()->second);
}

void CalendarTable::note_told(const CalendarEntry& entry) {
  if (const auto at = warning_of(entry)) to_tell_.erase({*at, name_of(entry.newest())});
}

std::vector<const CalendarEntry*> CalendarTable::ending(WallTime now) const {
  std::vector<const CalendarEntry*> out;
  for (auto at = ends_.begin(); at != ends_.end() && at->first <= now; ++at) {
    out.push_back(&calendars_.at(at->second));
  }
  return out;
}

}  // namespace rota::master::core
