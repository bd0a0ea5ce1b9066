// Reads time zones before they are needed, a few at a time: a master that takes office must not read hundreds
// of files first.
#pragma once

#include <cstddef>

#include "common/time/zones.h"

namespace rota::timezone {

/// Thread: one at a time. A zone that cannot be read now is read again, and reported, when it is needed.
class ZoneWarmUp {
 public:
  void read_some() {
    const auto& names = zone_names();
    for (std::size_t i = 0; i < kAtOnce && next_ < names.size(); ++i) (void)load_zone(names[next_++]);
  }

 private:
  static constexpr std::size_t kAtOnce = 8;
  std::size_t next_ = 0;
};

}  // namespace rota::timezone
