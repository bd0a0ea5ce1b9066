#include "common/model/day_text.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <optional>

#include "common/base/utf8.h"

namespace rota::model {
namespace {

constexpr std::string_view kWeekdays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

tl::unexpected<Error> refused(std::string_view text, std::string_view wanted) {
  return fail(ErrorCode::InvalidArgument, fmt::format("{} is not {}", quoted_text(text), wanted));
}

/// A number of exactly so many digits.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(at, count)) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::string_view bare(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::string why_no_date(const std::chrono::year_month_day& date) {
  if (!date.month().ok()) return "months are 01 to 12";
  const std::chrono::year_month_day_last last{date.year() / date.month() / std::chrono::last};
  return fmt::format("that month has {} days", unsigned(last.day()));
}

/// 0 = Sunday.
std::optional<unsigned> weekday_from_text(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (unsigned i = 0; i < std::size(kWeekdays); ++i) {
    if (lower == kWeekdays[i]) return i;
  }
  return std::nullopt;
}

/// "09:30", "24:00" too.
std::optional<std::int64_t> clock_of(std::string_view text) {
  const auto hour = digits(text, 0, 2);
  const auto minute = digits(text, 3, 2);
  const bool has_second = text.size() == 8;
  const auto second = has_second ? digits(text, 6, 2) : std::optional(0);
  const bool has_form =
      (text.size() == 5 || has_second) && text[2] == ':' && (!has_second || text[5] == ':');
  if (!has_form) return std::nullopt;
  if (!hour || !minute || !second || *minute > 59 || *second > 59) return std::nullopt;
  const std::int64_t ms = ((*hour * 60 + *minute) * 60 + *second) * std::int64_t{1000};
  return ms <= kMillisOfDay ? std::optional(ms) : std::nullopt;
}

}  // namespace

Result<Day> day_from_text(std::string_view text) {
  const auto year = digits(text, 0, 4);
  const auto month = digits(text, 5, 2);
  const auto day = digits(text, 8, 2);
  if (text.size() != 10 || text[4] != '-' || text[7] != '-' || !year || !month || !day) {
    return refused(text, "a day; write it as \"2026-12-31\"");
  }
  const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month(unsigned(*month)),
                                         std::chrono::day(unsigned(*day))};
  if (!date.ok()) return refused(text, "a day that exists; " + why_no_date(date));
  if (*year < 1970 || *year > 2199) return refused(text, "a day of the years 1970 to 2199");
  return Day{date};
}

std::string day_to_text(Day day) {
  const std::chrono::year_month_day date{day};
  return fmt::format("{:04}-{:02}-{:02}", int(date.year()), unsigned(date.month()), unsigned(date.day()));
}

Result<DayRange> day_range_from_text(std::string_view text) {
  const auto dots = text.find("..");
  const auto first = day_from_text(bare(text.substr(0, dots)));
  if (!first) return fail(first.error());
  if (dots == std::string_view::npos) return DayRange{*first, *first};
  const auto last = day_from_text(bare(text.substr(dots + 2)));
  if (!last) return fail(last.error());
  if (*last < *first) return refused(text, "a range of days: its last day lies before its first; swap them");
  return DayRange{*first, *last};
}

Result<std::uint8_t> weekdays_from_text(std::string_view text) {
  constexpr std::string_view kWanted = "a list of weekdays; write it as \"mon-fri\" or \"mon,wed,sat-sun\"";
  unsigned days = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view item = bare(text.substr(at, comma - at));
    const std::size_t dash = item.find('-');
    const auto first = weekday_from_text(item.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : weekday_from_text(item.substr(dash + 1));
    if (!first || !last) return refused(text, kWanted);
    for (unsigned day = *first;; day = (day + 1) % 7) {
      days |= 1u << day;
      if (day == *last) break;
    }
    at = comma + 1;
  }
  return static_cast<std::uint8_t>(days);
}

Result<std::int64_t> clock_from_text(std::string_view text) {
  const auto clock = clock_of(text);
  if (!clock || *clock == kMillisOfDay) return refused(text, "a time of day; write it as \"18:00\"");
  return *clock;
}

Result<ClockRange> clock_range_from_text(std::string_view text) {
  const auto dash = text.find('-');
  const auto from = dash == std::string_view::npos ? std::nullopt : clock_of(bare(text.substr(0, dash)));
  const auto to = dash == std::string_view::npos ? std::nullopt : clock_of(bare(text.substr(dash + 1)));
  if (!from || !to || *from == kMillisOfDay) {
    return refused(text, "two times of day; write them as \"09:30-16:00\"");
  }
  return ClockRange{*from, *to == kMillisOfDay ? kMillisOfDay : *to + 1};
}

}  // namespace rota::model
