// Which ticks one entry of a schedule plans: this folder's own enumeration, as in planned_ticks.h. It walks
// from tick to tick and looks at the clock of each, with calendars from day to day; it shares the cron parser
// and its next match alone.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/day_text.h"
#include "common/model/schedule_entry.h"
#include "common/model/zone.h"
#include "master/core/time/cron.h"
#include "master/store/zone_source.h"
#include "master/verify/calendar_days.h"

namespace rota::master::verify {

/// Thread: one.
class EntryTicks {
 public:
  /// `line` as it is stored. Corrupt when it can't be read; InvalidArgument for an unknown zone.
  /// `days`: of its calendars.
  static Result<EntryTicks> of(const std::string& line, const store::ZoneSource& zones, WallTime anchor,
                               std::uint64_t job_hash, CalendarDays days = {});

  /// Of an entry `after_end`, whose ticks hang on the runs: so long after an end it is due at the earliest.
  std::optional<Millis> pause_after_end() const;
  /// Where it is open then.
  bool is_open(WallTime tick) const;

  /// The first one strictly after `at`, where that is not after `through`.
  /// Asked for later and later ones.
  std::optional<WallTime> after(WallTime at, WallTime through);
  /// The moments in (at, through] that edits of its calendars took from it (calendar_days.h).
  std::set<WallTime> edited_away(WallTime at, WallTime through) const;

 private:
  std::set<std::int64_t> edited_away_local() const;
  std::optional<WallTime> by_calendars_after(WallTime at, WallTime through);
  std::optional<WallTime> placed_cron_after(WallTime at, WallTime through);
  /// What the cron has on that day, in local time.
  template <typename Look>
  void for_each_time(std::int64_t day, const Look& look) const {
    const std::int64_t begin_s = day * (model::kMillisOfDay / 1000);
    const std::int64_t end_s = begin_s + model::kMillisOfDay / 1000;
    for (auto local_s = core::next_local_match(cron_, begin_s); local_s && *local_s < end_s;
         local_s = core::next_local_match(cron_, *local_s + 1)) {
      if (entry_.between.empty() || is_between(*local_s * 1000)) look(*local_s * 1000);
    }
  }
  void place_day(std::int64_t day);
  void place(WallTime moment);
  bool open_next_day();
  const std::optional<CalendarDays::WholeDay>& whole_day(std::int64_t day);
  WallTime late_in_day(WallTime tick, std::int64_t day) const;
  std::optional<WallTime> on_open_day_after(WallTime at, WallTime through);
  std::optional<std::int64_t> steady_offset_ms(std::int64_t day) const;
  std::vector<WallTime> moments_of(std::int64_t local_ms) const;
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
  CalendarDays days_;
  std::optional<std::int64_t> next_day_;    // all local days before it are placed
  std::map<std::int64_t, std::vector<WallTime>> placed_;  // by calendars: moments by their day in UTC
  std::vector<WallTime> today_;             // those of the first day, in order, from next_ on
  std::size_t next_ = 0;
  std::optional<std::int64_t> asked_day_;
  std::optional<CalendarDays::WholeDay> whole_day_;  // of asked_day_
};

}  // namespace rota::master::verify
