// Days off out of an iCalendar file (RFC 5545), as authorities and exchanges publish their holidays.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/day_text.h"

namespace rota::client {

/// A file may be so long.
inline constexpr std::size_t kLargestIcs = std::size_t{16} << 20;

/// Days of one event.
struct IcsDays {
  model::DayRange days;
  std::string summary;
  bool operator==(const IcsDays&) const = default;
};

struct IcsFile {
  std::vector<IcsDays> days;       ///< within the range asked for, in order
  std::vector<std::string> left_out;  ///< events of less than a day, which close no day: in words
};

/// The whole days of all events from `range.first` to `range.last`, repeated ones (RRULE, RDATE, EXDATE) too.
/// Cancelled events are left out. InvalidArgument: it is no iCalendar file, or not one that can be read.
Result<IcsFile> read_ics(std::string_view text, const model::DayRange& range);

}  // namespace rota::client
