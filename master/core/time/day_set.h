// A set of days, from which the next one is found in a few steps however far it lies. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/model/day_text.h"

namespace rota::master::core {

/// The last day of which a calendar says anything (days since 1970).
inline constexpr std::int64_t kLastCalendarDay =
    model::Day{std::chrono::year{2199} / 12 / 31}.time_since_epoch().count();

/// Some weekdays of each week, and a stretch in which each day is told by a bit of its own. It ends with
/// 2199. A value.
class DaySet {
 public:
  /// Bit 0: Sunday.
  explicit DaySet(unsigned weekdays = 0) : weekdays_(weekdays) {}

  /// Of this range the days with these weekdays are in the set, no others.
  void set(const model::DayRange& range, unsigned weekdays);

  bool has(std::int64_t day) const { return (from(day) & 1) != 0; }
  /// Bit i: the day i days after `first`.
  std::uint64_t from(std::int64_t first) const;
  /// The first one at or after `day`.
  std::optional<std::int64_t> next(std::int64_t day) const;
  std::optional<std::int64_t> last() const;

 private:
  std::uint64_t word(std::int64_t at) const;
  std::int64_t told_end() const { return told_from_ + static_cast<std::int64_t>(told_.size()); }
  void tell(std::int64_t first_word, std::int64_t last_word);

  unsigned weekdays_;
  std::int64_t told_from_ = 0;  ///< word w holds the days from 64 w on
  std::vector<std::uint64_t> told_;
};

}  // namespace rota::master::core
