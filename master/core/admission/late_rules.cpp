#include "master/core/admission/late_rules.h"

namespace rota::master::core {

WallTime newest_begin(const CompiledSchedule& schedule, WallTime first, WallTime last, std::int64_t most) {
  // More than `most` ticks lie behind `low`, at most that many behind `high`.
  WallTime low = first - Millis{1}, high = last;
  while (high - low > Millis{1}) {
    const WallTime middle = low + (high - low) / 2;
    (schedule.count_between(middle, last, most + 1) > most ? low : high) = middle;
  }
  return high;
}

}  // namespace rota::master::core
