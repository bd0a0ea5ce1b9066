// A time zone as a value: the list of its changes. With it, pure code can convert between UTC and
// local time. common/time makes these values from the machine's zone files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rota::model {

/// From `from_utc_s` on (until the next entry) local time = UTC + offset_s.
struct ZoneChange {
  std::int64_t from_utc_s = 0;
  std::int32_t offset_s = 0;
};

/// Changes in rising order; the first one starts at INT64_MIN. Complete from 1970 to the year 2200.
struct ZoneRules {
  std::string name = "UTC";
  std::vector<ZoneChange> changes = {{INT64_MIN, 0}};
};

}  // namespace rota::model
