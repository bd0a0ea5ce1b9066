// What edits of its calendars took from an entry. A logical time (a time of its cron, its one moment, its
// n-th working day of a month) fires once, by the version that is in force at the planned moment. So it falls
// between two versions when the older one plans it behind the edit, and the newer one before it: it fires
// under neither. Its moment by the older version is edited away, and stands in a gap. What an edit merely
// closes or opens is no such moment. Only versions in force at or before a moment decide about it, so no
// later edit changes what was decided. Pure; private to the files of entries.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "master/core/time/cron.h"
#include "master/core/time/day_rules.h"
#include "master/core/time/local_times.h"

namespace rota::master::core {

/// A part of a day (days since 1970), in local time.
struct DayPart {
  std::int64_t day = 0;
  model::ClockRange times;
};

/// In which parts of days a cron's times are edited away: in order, none touches another.
std::vector<DayPart> edited_away_of_cron(const CronExpression& cron, const DayRules& days,
                                         model::Otherwise otherwise,
                                         const std::vector<model::ClockRange>& between);

/// The same of the n-th working days of months: parts of one time each.
std::vector<DayPart> edited_away_of_working_day(int nth, std::int64_t clock_ms, const DayRules& days);

/// At which local times the one at `local_ms` is edited away: mostly none.
std::vector<std::int64_t> edited_away_of(std::int64_t local_ms, const DayRules& days,
                                         model::Otherwise otherwise);

/// The times in such parts of days: those of a cron, or, without one, where each part begins.
/// Thread: constant. What it is made from must outlive it.
class EditedAwayTimes final : public LocalTimes {
 public:
  EditedAwayTimes(const CronExpression* cron, const std::vector<DayPart>& parts)
      : cron_(cron), parts_(parts) {}

  std::optional<std::int64_t> next(std::int64_t local_s) const override;
  bool follows_elapsed_time() const override { return cron_ != nullptr && cron_->follows_elapsed_time; }

 private:
  std::optional<std::int64_t> first_in(const DayPart& part, std::int64_t from_s) const;

  const CronExpression* cron_;
  const std::vector<DayPart>& parts_;
};

}  // namespace rota::master::core
