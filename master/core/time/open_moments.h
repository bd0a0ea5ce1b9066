// Which moments of a fixed rate, of a delay, or of a cron as Quartz reads it lie in the days and hours that
// an entry leaves open: they are moments by themselves, not local times, and are never moved. Pure; private
// to the files of entries.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/time.h"
#include "common/model/zone.h"
#include "master/core/time/cron.h"
#include "master/core/time/day_rules.h"

namespace rota::master::core {

/// Thread: one. What it is made from must outlive it.
class OpenMoments {
 public:
  OpenMoments(const DayRules& days, const std::vector<model::ClockRange>& between,
              const model::ZoneRules& zone)
      : days_(days), between_(between), zone_(zone) {}

  /// The first one at or after `at`.
  std::optional<WallTime> next(WallTime at) const;
  /// The first of tick, tick + interval ... that is one.
  std::optional<WallTime> next_of_rate(WallTime tick, Millis interval) const;
  /// The first moment strictly after `after` that Quartz gives to the cron and that is one.
  std::optional<WallTime> next_as_quartz(const CronExpression& cron, WallTime after) const;

  /// How many times were looked at one by one since this was made: few, however far the next one lies.
  std::int64_t times_tried() const { return times_tried_; }

 private:
  /// In which the offset of the zone stays the same.
  struct Stretch {
    std::optional<WallTime> end;
    std::int64_t offset_ms = 0;
    std::int64_t local(WallTime at) const { return to_ms(at) + offset_ms; }
  };
  Stretch stretch_of(WallTime at) const;
  WallTime even_until(WallTime at) const;
  std::optional<std::int64_t> next_local(std::int64_t local_ms, const DayRules::IsWanted& is_wanted) const;
  std::optional<WallTime> rate_in_stretch(WallTime tick, Millis interval, const Stretch& stretch) const;
  WallTime pass_closed_days(WallTime tick, Millis interval, const Stretch& stretch) const;

  const DayRules& days_;
  const std::vector<model::ClockRange>& between_;
  const model::ZoneRules& zone_;
  mutable std::int64_t times_tried_ = 0;
};

}  // namespace rota::master::core
