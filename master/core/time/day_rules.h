// Which times of a day an entry's calendars leave open, through the versions
// that they had. The version that is in force at the planned moment counts. So
// a time of a closed day that is moved to another day is asked there of the
// version in force there, and fires once, however often the calendars are
// edited. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "common/model/day_text.h"
#include "common/model/schedule_entry.h"
#include "master/core/time/calendar.h"

namespace rota::master::core {

inline model::ClockRange overlap(const model::ClockRange& a, const model::ClockRange& b) {
  return {std::max(a.from_ms, b.from_ms), std::min(a.to_ms, b.to_ms)};
}

/// A tick on a closed day is moved by at most so many days; else it is skipped.
inline constexpr int kLongestShift = 15;

/// A calendar as it was edited. The first version also holds for all time
/// before it.
struct CalendarVersion {
  WallTime from{};
  CalendarPtr calendar;
};
using CalendarHistory = std::vector<CalendarVersion>;

/// Thread: constant after construction.
class DayRules {
 public:
  DayRules() = default;  ///< all is open
  /// `zone` is the entry's and must outlive this.
  DayRules(const std::vector<CalendarHistory>& calendars, const model::ZoneRules& zone, int day_asked);

  /// What is open of a day (days since 1970), in its local time: in order, none
  /// touches another.
  std::vector<model::ClockRange> open_on(std::int64_t day) const;
  /// A calendar that is in force then says nothing of that day.
  bool is_held_on(std::int64_t day) const;
  /// The first day at or after `day` of which some time may be open; empty:
  /// there is none.
  std::optional<std::int64_t> next_open(std::int64_t day) const;
  /// The same, where shorter hours must leave open some time that is wanted. Days with equal hours are passed
  /// in one step. Only near an edit may the day be one that leaves open no such time.
  using IsWanted = std::function<bool(const model::ClockRange& open)>;
  std::optional<std::int64_t> next_open_for(std::int64_t day, const IsWanted& is_wanted) const;
  /// Bit i: of the day i days after `first` some time may be open; next_open finds them.
  std::uint64_t open_days(std::int64_t first) const;
  /// The same: it is a working day by the versions in force at that local time; shorter hours do not matter.
  std::uint64_t working_days(std::int64_t first, std::int64_t in_force_local_ms) const;
  /// No time is open after that day.
  std::int64_t last_open() const { return last_open_; }
  /// The local times at which another version came into force, in order.
  const std::vector<std::int64_t>& switches() const { return switches_; }

  /// Where there were switches: the rules as they stood before the first one, and from each one on, without
  /// regard to edits. What is moved into the past must not depend on versions that came later.
  const std::vector<DayRules>& stretches() const { return stretches_; }
  /// From the local time, before which that stretch is not in force, to the one from which it is no more.
  std::pair<std::int64_t, std::int64_t> span_of_stretch(std::size_t i) const;

  /// Without the versions that come into force after that local time.
  DayRules known_at(std::int64_t local_ms) const;

  bool is_empty() const { return used_.empty(); }

 private:
  struct Part {
    std::int64_t from_ms = INT64_MIN;  ///< local time since 1970, in the entry's zone
    CalendarPtr calendar;
    /// The days on which it is in force, at some time at least.
    std::int64_t first_day = INT64_MIN, last_day = INT64_MAX;
  };
  using Parts = std::vector<Part>;

  static void tell_days(Parts& parts);
  static model::ClockRange in_force_on(const Parts& parts, std::size_t i, std::int64_t day);
  static const Part& part_in_force(const Parts& parts, std::int64_t local_ms);
  std::int64_t last_of(const Parts& parts) const;
  void find_last_open();
  std::int64_t same_open_through(std::int64_t day) const;
  std::vector<model::ClockRange> hours_on(const CompiledCalendar& calendar, std::int64_t day) const;
  std::vector<model::ClockRange> open_by(const Parts& parts, std::int64_t day) const;

  void cut_into_stretches();

  std::vector<Parts> used_;
  std::vector<std::int64_t> switches_;
  std::vector<DayRules> stretches_;
  const model::ZoneRules* zone_ = nullptr;
  int day_asked_ = 0;
  bool has_hours_ = false;
  std::int64_t last_open_ = kLastCalendarDay + kLongestShift;
};

}  // namespace rota::master::core
