// Which ticks one entry of a schedule plans: this folder's own enumeration, as in planned_ticks.h. It walks
// from tick to tick and looks at the clock of each; it shares the cron parser and its next match alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/base/result.h"
#include "common/model/day_text.h"
#include "common/model/schedule_entry.h"
#include "common/model/zone.h"
#include "master/core/time/cron.h"
#include "master/store/zone_source.h"

namespace rota::master::verify {

/// Thread: one.
class EntryTicks {
 public:
  /// `line` as it is stored. Corrupt when it can't be read; InvalidArgument for an unknown zone.
  static Result<EntryTicks> of(const std::string& line, const store::ZoneSource& zones, WallTime anchor,
                               std::uint64_t job_hash);

  /// Of an entry `after_end`, whose ticks hang on the runs: so long after an end it is due at the earliest.
  std::optional<Millis> pause_after_end() const;
  /// Where it is open then.
  bool is_open(WallTime tick) const;

  /// The first one strictly after `at`, where that is not after `through`.
  std::optional<WallTime> after(WallTime at, WallTime through) const;

 private:
  std::optional<WallTime> any_after(WallTime at, WallTime through) const;
  std::optional<WallTime> cron_after(WallTime at) const;
  std::optional<WallTime> rate_after(WallTime at) const;
  std::optional<WallTime> working_day_after(WallTime at, WallTime through) const;
  std::optional<WallTime> moment_in(std::chrono::year_month month) const;
  bool is_between(std::int64_t local_ms) const;
  std::int64_t offset_ms_at(WallTime moment) const;

  model::ScheduleEntry entry_;
  WallTime anchor_{};
  core::CronExpression cron_;
  std::shared_ptr<const model::ZoneRules> zone_;
  model::ClockRange between_;
};

}  // namespace rota::master::verify
