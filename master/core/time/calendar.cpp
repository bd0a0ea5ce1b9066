#include "master/core/time/calendar.h"

#include <fmt/format.h>

#include <algorithm>

namespace rota::master::core {
namespace {

using model::ClockRange;
using model::Day;
using model::DayRange;

constexpr std::size_t kMostRanges = 10'000;
constexpr unsigned kAllWeek = 0x7f;

tl::unexpected<Error> wrong(std::string_view key, std::string_view why) {
  return fail(ErrorCode::InvalidArgument, fmt::format("{}: {}", key, why));
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
  return ranges;
}

/// Both of them, as far as the calendar covers them.
std::optional<DayRange> inside(const std::optional<DayRange>& covers, DayRange range) {
  if (covers) range = {std::max(range.first, covers->first), std::min(range.last, covers->last)};
  return range.first > range.last ? std::nullopt : std::optional(range);
}

/// Include beats exclude, which beats the weekdays.
DaySet open_days(unsigned weekdays, const std::vector<DayRange>& exclude,
                 const std::vector<DayRange>& include, const std::optional<DayRange>& covers,
                 bool holds_beyond) {
  DaySet out(holds_beyond ? 0 : weekdays);
  if (holds_beyond) out.set(*covers, weekdays);
  std::vector<std::pair<DayRange, unsigned>> told;
  for (const DayRange& range : exclude) {
    if (const auto part = inside(covers, range)) told.emplace_back(*part, 0);
  }
  for (const DayRange& range : include) {
    if (const auto part = inside(covers, range)) told.emplace_back(*part, kAllWeek);
  }
  if (told.empty()) return out;
  DayRange all = told.front().first;
  for (const auto& [range, days] : told) {
    all = {std::min(all.first, range.first), std::max(all.last, range.last)};
  }
  out.set(all, weekdays);  // at once, so that it need not grow
  for (const auto& [range, days] : told) out.set(range, days);
  return out;
}

}  // namespace

DayAnswer CompiledCalendar::on(Day day) const {
  const bool is_covered = !covers_ || (day >= covers_->first && day <= covers_->last);
  if (!is_covered && holds_beyond_) return DayAnswer::Held;
  const std::int64_t number = day.time_since_epoch().count();
  const unsigned weekday = std::chrono::weekday{day}.c_encoding();
  const bool is_open = number <= kLastCalendarDay ? open_.has(number) : (weekdays_ >> weekday & 1) != 0;
  return is_open ? DayAnswer::Open : DayAnswer::Closed;
}

std::optional<Day> CompiledCalendar::next_open(Day day) const {
  const auto next = open_.next(day.time_since_epoch().count());
  return next ? std::optional(Day{std::chrono::days{*next}}) : std::nullopt;
}

const ClockRange* CompiledCalendar::hours(Day day) const {
  const auto behind =
      std::ranges::upper_bound(hours_, day, {}, [](const Hours& each) { return each.days.first; });
  if (behind == hours_.begin() || std::prev(behind)->days.last < day) return nullptr;
  return &std::prev(behind)->open;
}

std::optional<Day> CompiledCalendar::same_hours_through(Day day) const {
  const auto at = std::ranges::lower_bound(hours_, day, {}, [](const Hours& each) { return each.days.last; });
  if (at == hours_.end()) return std::nullopt;
  return at->days.first > day ? at->days.first - std::chrono::days{1} : at->days.last;
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
  auto include = read_ranges("include", calendar.include);
  if (!include) return fail(include.error());
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
  out.open_ = open_days(out.weekdays_, *exclude, *include, out.covers_, out.holds_beyond_);
  if (!out.next_open(Day{})) {
    const std::string where = out.holds_beyond_ ? " within covers: " + calendar.covers : "";
    return wrong("days", fmt::format("{} leaves no day open{}; open some, or add one to `include`",
                                     calendar.days, where));
  }
  return out;
}

}  // namespace rota::master::core
