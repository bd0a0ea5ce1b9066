// The wall clock that a leader schedules by: the host's, checked against the database's. A host whose
// clock jumps ahead would fire hours of ticks early, and core time never goes back; so this clock never
// runs more than `tolerance` ahead of the database's, and says when the two are too far apart.
#pragma once

#include <mutex>
#include <optional>

#include "common/base/time.h"

namespace rota::master {

struct ClockGuardOptions {
  Millis tolerance{2000};       ///< farther apart than this: ticks are to be held
  Millis near_again{1500};      ///< as near as this: no longer
  Millis longest_look{1000};    ///< an answer that took longer says too little about the time
};

/// Thread: any.
class ClockGuard final : public Clock {
 public:
  /// `host` outlives it.
  explicit ClockGuard(const Clock& host, const ClockGuardOptions& options = {})
      : host_(host), options_(options) {}

  WallTime wall() const override;
  MonoTime mono() const override { return host_.mono(); }

  /// What the database's clock said, asked at `before` and answered at `after`.
  void look(WallTime database, MonoTime before, MonoTime after);

  /// How far the host's clock is ahead of the database's (negative: behind), while that is too far.
  std::optional<Millis> skew() const;

 private:
  WallTime database_at(MonoTime now) const;

  const Clock& host_;
  const ClockGuardOptions options_;
  mutable std::mutex mutex_;
  std::optional<WallTime> database_;  ///< as last seen, at seen_
  MonoTime seen_{};
  bool apart_ = false;
  Millis skew_{0};
};

}  // namespace rota::master
