#include "master/core/time/calendar.h"

#include <fmt/format.h>

#include <algorithm>

namespace rota::master::core {
namespace {

using model::ClockRange;
using model::Day;
using model::DayRange;

constexpr std::size_t kMostRanges = 10'000;
constexpr Day kLastDay{std::chrono::year{2199} / 12 / 31};

tl::unexpected<Error> wrong(std::string_view key, std::string_view why) {
  return fail(ErrorCode::InvalidArgument, fmt::format("{}: {}", key, why));
}

/// The range that holds the day, or the end.
template <typename Ranges, typename RangeOf>
auto holding(const Ranges& ranges, Day day, const RangeOf& range_of) {
  auto after = std::upper_bound(ranges.begin(), ranges.end(), day,
                                [&](Day d, const auto& each) { return d < range_of(each).first; });
  if (after == ranges.begin() || range_of(*--after).last < day) return ranges.end();
  return after;
}

const DayRange& same(const DayRange& range) { return range; }

bool holds(const std::vector<DayRange>& ranges, Day day) {
  return holding(ranges, day, same) != ranges.end();
}

Result<std::vector<DayRange>> read_ranges(std::string_view key, const std::vector<std::string>& texts) {
  if (texts.size() > kMostRanges) {
    return wrong(key, fmt::format("{} entries, at most {} are allowed", texts.size(), kMostRanges));
  }
  std::vector<DayRange> ranges;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto range = model::day_range_from_text(texts[i]);
    if (!range) return wrong(fmt::format("{}[{}]", key, i), range.error().message);
    ranges.push_back(*range);
  }
  std::ranges::sort(ranges, {}, &DayRange::first);
  std::vector<DayRange> merged;
  for (const DayRange& range : ranges) {
    const bool touches = !merged.empty() && range.first <= merged.back().last + std::chrono::days{1};
    if (touches) merged.back().last = std::max(merged.back().last, range.last);
    if (!touches) merged.push_back(range);
  }
  return merged;
}

}  // namespace

DayAnswer CompiledCalendar::on(Day day) const {
  const bool is_covered = !covers_ || (day >= covers_->first && day <= covers_->last);
  if (!is_covered && holds_beyond_) return DayAnswer::Held;
  if (is_covered && holds(include_, day)) return DayAnswer::Open;
  if (is_covered && holds(exclude_, day)) return DayAnswer::Closed;
  const unsigned weekday = std::chrono::weekday{day}.c_encoding();
  return (weekdays_ >> weekday & 1) != 0 ? DayAnswer::Open : DayAnswer::Closed;
}

std::optional<Day> CompiledCalendar::next_open(Day day) const {
  const Day last = std::min(kLastDay, last_day().value_or(kLastDay));
  if (holds_beyond_ && covers_) day = std::max(day, covers_->first);
  while (day <= last) {
    if (on(day) == DayAnswer::Open) return day;
    const auto closed = holding(exclude_, day, same);
    Day next = day + std::chrono::days{1};
    if (closed != exclude_.end()) {  // over the whole range, unless a day in it is included
      const auto included = std::lower_bound(include_.begin(), include_.end(), next,
                                             [](const DayRange& range, Day d) { return range.last < d; });
      Day end = closed->last;
      if (included != include_.end()) {
        end = std::min(end, std::max(next, included->first) - std::chrono::days{1});
      }
      if (covers_) end = std::min(end, std::max(day, covers_->last));
      next = std::max(next, end + std::chrono::days{1});
    }
    day = next;
  }
  return std::nullopt;
}

const ClockRange* CompiledCalendar::hours(Day day) const {
  const auto found = holding(hours_, day, [](const Hours& each) -> const DayRange& { return each.days; });
  return found == hours_.end() ? nullptr : &found->open;
}

std::optional<Day> CompiledCalendar::last_day() const {
  if (!covers_ || !holds_beyond_) return std::nullopt;
  return covers_->last;
}

Result<CompiledCalendar> compile_calendar(const model::Calendar& calendar,
                                          std::shared_ptr<const model::ZoneRules> zone) {
  CompiledCalendar out;
  out.name_ = calendar.name;
  out.zone_ = std::move(zone);
  const auto days = model::weekdays_from_text(calendar.days);
  if (!days) return wrong("days", days.error().message);
  out.weekdays_ = *days;
  auto exclude = read_ranges("exclude", calendar.exclude);
  if (!exclude) return fail(exclude.error());
  out.exclude_ = std::move(*exclude);
  auto include = read_ranges("include", calendar.include);
  if (!include) return fail(include.error());
  out.include_ = std::move(*include);
  for (const auto& [text, times] : calendar.hours) {
    const auto range = model::day_range_from_text(text);
    if (!range) return wrong("hours", range.error().message);
    const auto open = model::clock_range_from_text(times);
    if (!open) return wrong("hours." + text, open.error().message);
    if (open->is_empty()) {
      return wrong("hours." + text, "it runs over midnight; end it with 24:00 at the latest");
    }
    out.hours_.push_back({*range, *open});
  }
  std::ranges::sort(out.hours_, {}, [](const auto& each) { return each.days.first; });
  for (std::size_t i = 1; i < out.hours_.size(); ++i) {
    if (out.hours_[i].days.first > out.hours_[i - 1].days.last) continue;
    const std::string twice = model::day_to_text(out.hours_[i].days.first);
    return wrong("hours", fmt::format("{} is given twice; keep one", twice));
  }
  if (!calendar.covers.empty()) {
    const auto covers = model::day_range_from_text(calendar.covers);
    if (!covers) return wrong("covers", covers.error().message);
    out.covers_ = *covers;
  }
  out.holds_beyond_ = calendar.beyond == model::BeyondCover::Hold;
  if (out.holds_beyond_ && !out.covers_) {
    return wrong("beyond", "hold needs `covers`; give it, or leave beyond out");
  }
  if (!out.next_open(Day{})) {
    const std::string where = out.holds_beyond_ ? " within covers: " + calendar.covers : "";
    return wrong("days", fmt::format("{} leaves no day open{}; open some, or add one to `include`",
                                     calendar.days, where));
  }
  return out;
}

}  // namespace rota::master::core
