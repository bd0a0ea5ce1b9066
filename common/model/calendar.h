// Calendars: which days are working days. A saved object of its own, that the
// schedules of many jobs name. Every edit is a new version. Dates stand here as
// texts ("2026-02-15..2026-02-23", day_text.h), as in files and in the store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "common/base/time.h"

namespace rota::model {

/// Bytes of a calendar's name, and of its description.
inline constexpr std::size_t kMaxCalendarName = 64;
inline constexpr std::size_t kMaxCalendarDescription = 1000;

/// What a calendar says of days outside of what it covers. Days: its weekdays
/// alone decide. Hold: nothing fires there.
enum class BeyondCover { Days, Hold };

/// A day is open when it is in `include`; else closed when it is in `exclude`;
/// else its weekday decides.
struct Calendar {
  std::string name;
  std::string description;
  std::string time_zone = "UTC";  ///< of `hours`
  std::string days = "mon-sun";
  std::vector<std::string> exclude;
  std::vector<std::string> include;
  std::map<std::string, std::string> hours;  ///< day or range: "09:30-13:00"; open days that are shorter
  std::string covers;                        ///< a range; empty: all days
  BeyondCover beyond = BeyondCover::Days;
  bool operator==(const Calendar&) const = default;
};

/// One version of a saved calendar, as it is stored. It is never changed afterwards.
struct CalendarRow {
  std::string space = "default";
  std::int32_t version = 0;  ///< from 1; it goes on when a deleted name is used again
  WallTime from{};           ///< it counts for planned moments from here on
  WallTime changed{};        ///< when the edit was made
  std::string principal;
  std::string why;           ///< of a deletion
  bool deleted = false;      ///< with this version the calendar ended
  std::shared_ptr<const Calendar> calendar;  ///< of a deletion: what it was
};

}  // namespace rota::model
