// The local times that an entry plans: those of its cron after its calendars
// have closed days and moved what fell there, or those of the n-th working day
// of each month. Pure; private to the files of entries.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "master/core/time/cron.h"
#include "master/core/time/day_rules.h"
#include "master/core/time/local_times.h"

namespace rota::master::core {

/// What part of a day `between` allows: one range, or two when it runs over
/// midnight.
std::vector<model::ClockRange> ranges_of_day(const model::ClockRange& between);

/// A cron's times inside of `between`, each on its own day if it is open then,
/// else at the same time of the next or previous day that is, or not at all.
/// Thread: one. What it is made from must outlive it.
class CalendarTimes final : public LocalTimes {
 public:
  CalendarTimes(const CronExpression& cron, const DayRules& days, model::Otherwise otherwise,
                const std::vector<model::ClockRange>& between)
      : cron_(cron), days_(days), otherwise_(otherwise), between_(between) {}

  std::optional<std::int64_t> next(std::int64_t local_s) const override;
  std::int64_t count(std::int64_t from, std::int64_t to) const override;
  bool follows_elapsed_time() const override { return cron_.follows_elapsed_time; }
  /// How many days were looked at one by one since this was made: few, however far the next one lies.
  std::int64_t days_tried() const { return days_tried_; }

 private:
  /// A stretch of a source day that is planned on a day.
  struct Placed {
    std::int64_t day = 0;
    model::ClockRange times;
  };
  int back() const { return otherwise_ == model::Otherwise::Next ? kLongestShift : 0; }
  int ahead() const { return otherwise_ == model::Otherwise::Previous ? kLongestShift : 0; }
  bool has_times(const model::ClockRange& open) const;
  std::optional<std::int64_t> next_source(std::int64_t day) const;
  void place(const DayRules& days, std::int64_t day, const model::ClockRange& times, int shifted,
             std::vector<Placed>& out) const;
  std::vector<Placed> placed_before(std::int64_t source) const;
  std::vector<Placed> placed_from(std::int64_t source) const;
  std::int64_t count_on(std::int64_t day, std::int64_t before_s) const;

  const CronExpression& cron_;
  const DayRules& days_;
  const model::Otherwise otherwise_;
  const std::vector<model::ClockRange>& between_;
  mutable std::int64_t days_tried_ = 0;
};

/// The n-th working day of each month (from its end when negative), at one time
/// of day.
class WorkingDayTimes final : public LocalTimes {
 public:
  WorkingDayTimes(int nth, std::int64_t clock_ms, const DayRules& days)
      : nth_(nth), clock_ms_(clock_ms), days_(days) {}

  std::optional<std::int64_t> next(std::int64_t local_s) const override;
  /// In the month of these days (days since 1970); in seconds.
  std::optional<std::int64_t> in_month(std::int64_t first, std::int64_t last) const;

 private:
  std::optional<std::int64_t> day_in_month(std::int64_t first, std::int64_t last,
                                           std::int64_t in_force) const;

  const int nth_;
  const std::int64_t clock_ms_;
  const DayRules& days_;
};

/// Whether this local time is open, or else to which local time it is moved;
/// empty: it is skipped.
std::optional<std::int64_t> moved_to_open(std::int64_t local_ms, const DayRules& days,
                                          model::Otherwise otherwise);

}  // namespace rota::master::core
