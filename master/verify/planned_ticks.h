// Which ticks a job version plans: this folder's own enumeration. It shares the cron parser and its
// next-match function with the leader's path, and nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "common/base/result.h"
#include "common/model/job.h"
#include "common/model/zone.h"
#include "master/core/time/cron.h"
#include "master/store/zone_source.h"
#include "master/verify/entry_ticks.h"

namespace rota::master::verify {

/// The ticks of one version in (valid_from, valid_to], at most through `through`, in order.
/// Thread: one.
class PlannedTicks {
 public:
  /// From `from` on, where what lies before is of no interest. Corrupt when the stored schedule can't be
  /// read; InvalidArgument for an unknown zone.
  static Result<PlannedTicks> of(const model::JobVersionRow& version, const store::ZoneSource& zones,
                                 WallTime through, WallTime from = {}, const CalendarRows& calendars = {});

  /// The next one; empty at the end.
  std::optional<WallTime> next();
  /// The moments within the same bounds that edits of calendars took away. One at which the version plans a
  /// tick all the same, by another entry, fires.
  const std::set<WallTime>& edited_away() const { return edited_away_; }

  bool has_after_end() const;
  /// Whether it may be a tick of an entry `after_end`, when the tick before it came then.
  bool may_be_after_end(WallTime tick, std::optional<WallTime> before) const;

 private:
  Result<void> read_entries(const model::JobVersionRow& version, const store::ZoneSource& zones,
                            const CalendarRows& calendars);
  std::optional<WallTime> entries_after(WallTime at);
  std::optional<WallTime> cron_after(WallTime at) const;
  std::optional<WallTime> rate_after(WallTime at) const;

  model::Schedule schedule_;
  WallTime anchor_{};
  WallTime at_{};        // the last tick given, or what lies before the first
  WallTime through_{};
  core::CronExpression cron_;
  std::shared_ptr<const model::ZoneRules> zone_;
  struct Entry {
    EntryTicks ticks;
    std::optional<WallTime> next;  // after the last tick given
    bool is_known = false;
  };
  std::vector<Entry> entries_;
  std::set<WallTime> edited_away_;
};

}  // namespace rota::master::verify
