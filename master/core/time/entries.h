// All entries of a job's schedule together: a moment at which several are due
// is one tick. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "master/core/time/entry.h"

namespace rota::master::core {

/// Thread: constant after construction.
class CompiledEntries {
 public:
  CompiledEntries() = default;  ///< never fire
  explicit CompiledEntries(std::vector<CompiledEntry> entries);

  std::optional<WallTime> next_after(WallTime after) const;
  /// What edits of calendars took away (entry.h), and no entry fires at.
  std::optional<WallTime> next_edited_away(WallTime after) const;
  std::int64_t count_between(WallTime after, WallTime through, std::int64_t limit = INT64_MAX) const;
  bool fires_often() const;
  bool has_jitter() const { return has_jitter_; }

  /// The names of the entries that are due at this tick, in their order. One
  /// without a name is called by its place, from 1. A tick at which none is due
  /// by the clock is of the one after the last run's end.
  std::vector<std::string> names_at(WallTime tick) const;
  /// How much later than this tick the run of the job with that hash (cron_hash.h) starts: the least that
  /// its entries say.
  Millis jitter_at(WallTime tick, std::uint64_t hash) const;

  /// The one that is due some time after the end of the last run; null: there is none.
  const CompiledEntry* after_end() const;

  /// What fires for a start of a worker that is accepted then, as the names of those entries; empty: none.
  std::vector<std::string> names_at_start(WallTime at) const;
  /// How much later than that the run of this start begins.
  Millis jitter_at_start(WallTime at, std::string_view start, std::uint64_t hash) const;

  const std::vector<CompiledEntry>& all() const { return entries_; }

 private:
  bool is_due(std::size_t i, WallTime tick) const;
  bool fires_at_start(std::size_t i, WallTime at) const;
  std::string name_of(std::size_t i) const;
  std::optional<WallTime> next_of(std::size_t i, WallTime after) const;

  std::vector<CompiledEntry> entries_;
  std::uint32_t fires_ = 0;  ///< bit i: entry i has a moment at all, which takes a search to find out
  bool has_jitter_ = false;
  int after_end_ = -1;  ///< which entry; -1: none
};

/// All that is wrong with the entries of a schedule, each problem behind its
/// place: "schedule[1].cron ...".
std::vector<std::string> entries_problems(const std::vector<model::ScheduleEntry>& entries);

/// Why one of them never fires after `from`, by the calendars now in force;
/// empty when each does.
std::string why_never(const CompiledEntries& entries, WallTime from);

}  // namespace rota::master::core
