#include "master/core/time/hold_rules.h"

#include "common/base/duration_text.h"

namespace rota::master::core {
namespace {

const std::string kRemedy = "or: rota-master --rewind-ticks --config FILE";

std::string to_the_second(WallTime at) {
  constexpr std::size_t kSecondEnds = 19;  // "2026-03-29T02:30:00"
  return format_moment(at).substr(0, kSecondEnds) + "Z";
}

std::string joined(const std::string& held, const std::string& ahead) {
  return held.empty() ? ahead : held + "; " + ahead;
}

}  // namespace

std::string ahead_reason(WallTime watermark) {
  return "ticks are recorded until " + to_the_second(watermark) +
         ", which is ahead of the clock; they fire again then, " + kRemedy;
}

std::string hold_reason(const std::string& held, WallTime watermark, WallTime now) {
  return is_ahead(watermark, now) ? joined(held, ahead_reason(watermark)) : held;
}

std::string hold_text(const std::string& held, WallTime watermark, WallTime now) {
  if (!is_ahead(watermark, now)) return held;
  const Millis left = std::chrono::ceil<std::chrono::seconds>(watermark - now);
  return joined(held, "ticks are recorded until " + to_the_second(watermark) + ", the clock says " +
                          to_the_second(now) +
                          "; they fire again in " + format_duration(left) + ", " + kRemedy);
}

}  // namespace rota::master::core
