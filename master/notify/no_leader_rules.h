// When a master that does not lead tells that nobody does: once for each stretch without a leader. Pure.
#pragma once

#include <optional>

#include "common/base/time.h"

namespace rota::master::notify {

/// Thread: one.
class NoLeaderRules {
 public:
  explicit NoLeaderRules(Millis after) : after_(after) {}
  void set_after(Millis after) { after_ = after; }

  /// How long nobody has led, when that is to be told now.
  std::optional<Millis> look(MonoTime now, bool is_led) {
    if (is_led) {
      since_.reset();
      has_told_ = false;
      return std::nullopt;
    }
    if (!since_) since_ = now;
    const Millis lasts = std::chrono::floor<Millis>(now - *since_);
    if (has_told_ || lasts < after_) return std::nullopt;
    has_told_ = true;
    return lasts;
  }

 private:
  Millis after_;
  std::optional<MonoTime> since_;
  bool has_told_ = false;
};

}  // namespace rota::master::notify
