// The wall clock that a leader schedules by: the host's, checked against its own steady clock, against the
// database's and against other hosts'. A clock that jumps ahead would fire hours of ticks early, and core
// time never goes back; so this clock does not follow a step that nobody confirms (clock_step_rules), never
// runs more than `tolerance` ahead of the database's, and says when it is not to be believed.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "common/base/time.h"
#include "master/upkeep/clock_step_rules.h"

namespace rota::master {

struct ClockGuardOptions {
  Millis tolerance{2000};       ///< farther apart than this: ticks are to be held
  Millis near_again{1500};      ///< as near as this: no longer
  Millis longest_look{1000};    ///< an answer that took longer says too little about the time
  Millis longest_reading{100};  ///< between the two clocks of this host; longer tells nothing of a step
  ClockStepOptions steps;
};

/// Why the clock is not to be believed.
struct ClockDoubt {
  std::optional<Millis> skew;      ///< how far the host's clock is ahead of the database's
  std::optional<ClockHold> step;
  explicit operator bool() const { return skew.has_value() || step.has_value(); }
};

/// Thread: any.
class ClockGuard final : public Clock {
 public:
  /// `host` outlives it.
  explicit ClockGuard(const Clock& host, const ClockGuardOptions& options = {})
      : host_(host), options_(options), steps_(options.steps) {}

  WallTime wall() const override;
  MonoTime mono() const override { return host_.mono(); }

  /// Whether the database runs on another host, so that its clock can bear witness. Until this is said it
  /// does not.
  void set_database_elsewhere(bool elsewhere);

  /// What the database's clock said, asked at `before` and answered at `after`.
  void look(WallTime database, MonoTime before, MonoTime after);

  /// What a clock on another host said, asked and answered likewise.
  void hear(const std::string& witness, WallTime said, MonoTime before, MonoTime after);

  /// The operator's word that the clock is right as it is now.
  void accept();

  /// How far the host's clock is ahead of the database's (negative: behind), while that is too far.
  std::optional<Millis> skew() const;

  /// As of now: looks at the clock once more. While there is any, nothing may be judged by its age.
  ClockDoubt doubt() const;

 private:
  /// What the database's clock said, and when.
  struct DatabaseTime {
    WallTime said{};
    MonoTime seen{};
    /// It goes on between two looks as the steady clock does.
    WallTime at(MonoTime now) const { return said + floor_ms(now - seen); }
  };
  Now read() const;

  const Clock& host_;
  const ClockGuardOptions options_;
  mutable std::mutex mutex_;
  mutable ClockSteps steps_;           ///< each reading of the clock is a look at it
  bool database_elsewhere_ = false;
  std::optional<DatabaseTime> database_;       ///< as last seen
  std::optional<DatabaseTime> before_step_;    ///< as last seen while the clock was believed
  bool apart_ = false;
  Millis skew_{0};
};

}  // namespace rota::master
