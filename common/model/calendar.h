// Calendars: which days are working days. A saved object of its own, that the
// schedules of many jobs name. Every edit is a new version. Dates stand here as
// texts ("2026-02-15..2026-02-23", day_text.h), as in files and in the store.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace rota::model {

/// What a calendar says of days outside of what it covers. Days: its weekdays
/// alone decide. Hold: nothing fires there.
enum class BeyondCover { Days, Hold };

/// A day is open when it is in `include`; else closed when it is in `exclude`;
/// else its weekday decides.
struct Calendar {
  std::string name;
  std::string time_zone = "UTC";  ///< of `hours`
  std::string days = "mon-sun";
  std::vector<std::string> exclude;
  std::vector<std::string> include;
  std::map<std::string, std::string> hours;  ///< day or range: "09:30-13:00"; open days that are shorter
  std::string covers;                        ///< a range; empty: all days
  BeyondCover beyond = BeyondCover::Days;
  bool operator==(const Calendar&) const = default;
};

}  // namespace rota::model
