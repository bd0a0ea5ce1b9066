// Saved calendars as the leader knows them: the newest version of each, and those before it that may still
// count for a tick to come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/calendar.h"
#include "master/core/tables/id_set.h"
#include "master/core/time/day_rules.h"

namespace rota::master::core {

/// Namespace and name.
using CalendarName = std::pair<std::string, std::string>;

/// So long before the end of what a calendar covers it is told.
inline constexpr std::chrono::days kCoverWarning{60};

/// A version that another has replaced matters for so long: ticks are moved by up to 15 days, and the n-th
/// working day of a month may become any other day of it; each fires once.
inline constexpr std::chrono::days kReplacedMatters{31 + 2};

/// So long before an edit counts all jobs that it concerns are planned anew, whatever that takes.
inline constexpr Millis kReplanReserve{2000};

/// What decisions need of a calendar. Changed by CalendarTable alone.
class CalendarEntry {
 public:
  const model::CalendarRow& newest() const { return newest_; }
  /// In order; empty when this program cannot read it, or once it is deleted.
  const CalendarHistory& history() const { return *history_; }
  /// Another object after each edit.
  const std::shared_ptr<const CalendarHistory>& shared_history() const { return history_; }

 private:
  friend class CalendarTable;
  model::CalendarRow newest_;
  std::shared_ptr<const CalendarHistory> history_ = std::make_shared<const CalendarHistory>();
};

/// Thread: the Scheduler's.
class CalendarTable {
 public:
  /// nullptr: there is none, or it is deleted.
  const CalendarEntry* find(const std::string& space, const std::string& name) const;
  /// The number of the newest version, also of a deleted one; 0: the name was never used.
  std::int32_t last_version(const std::string& space, const std::string& name) const;
  /// A version that follows all others of its calendar. `compiled` is empty for a deletion, and for one that
  /// this program cannot read. Versions that others have replaced long before `planned_from` are
  /// forgotten.
  void put(model::CalendarRow row, CalendarPtr compiled, WallTime planned_from);

  // --- jobs that still have their ticks by the version before an edit
  /// They must be planned anew before that moment.
  void ask_to_replan(const IdSet<JobId>& jobs, WallTime before);
  std::optional<JobId> next_to_replan();
  bool is_replan_due(WallTime now) const {
    return !to_replan_.empty() && now + kReplanReserve >= replan_before_;
  }
  bool is_replan_wanted() const { return !to_replan_.empty(); }

  const std::map<CalendarName, CalendarEntry>& all() const { return calendars_; }
  std::size_t size() const { return live_; }

  /// A calendar that soon covers no more days, and was not told of yet.
  const CalendarEntry* next_ending(WallTime now) const;
  void note_told(const CalendarEntry& entry);
  /// All that cover no day from so soon on: the first to end first.
  std::vector<const CalendarEntry*> ending(WallTime now) const;

 private:
  using Ending = std::pair<WallTime, CalendarName>;

  std::map<CalendarName, CalendarEntry> calendars_;  ///< deleted ones too: their numbers go on
  std::size_t live_ = 0;
  std::set<JobId> to_replan_;
  WallTime replan_before_{};
  std::set<Ending> ends_;                            ///< from when on it is told
  std::set<Ending> to_tell_;                         ///< of these, those that were not told of
};

/// When what the calendar covers ends, in its own zone; empty: it has no end.
std::optional<WallTime> end_of_cover(const CalendarEntry& entry);

}  // namespace rota::master::core
