// How much CPU something uses now, from looks at how much it has used so far. Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/time.h"

namespace rota::worker::run {

/// Thread: the owner's.
class CpuRate {
 public:
  /// Looks may come often: the clock of CPU time counts in hundredths of a second, so it takes two seconds of
  /// looks for one rate. Processes that have ended are no longer in the sum, which may go back then.
  void note(Micros used, MonoTime at) {
    if (!from_ || used < used_) {
      percent_.reset();
    } else if (at - *from_ < kWindow) {
      return;
    } else {
      percent_ = static_cast<std::int32_t>(100 * (used - used_).count() / (at - *from_).count());
    }
    used_ = used;
    from_ = at;
  }
  /// Of one core; unset: not known yet.
  std::optional<std::int32_t> percent() const { return percent_; }

 private:
  static constexpr Millis kWindow{1900};
  std::optional<MonoTime> from_;
  Micros used_{0};
  std::optional<std::int32_t> percent_;
};

}  // namespace rota::worker::run
