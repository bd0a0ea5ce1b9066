#include "common/base/duration_text.h"

#include <fmt/format.h>

#include <cctype>
#include <optional>

#include "common/base/utf8.h"

namespace rota {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t ms;
};
constexpr Unit kUnits[] = {
    {"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}};
constexpr std::int64_t kMostMs = 36'525ll * 86'400'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

tl::unexpected<Error> wrong_duration(std::string_view text, std::string_view why) {
  return fail(ErrorCode::InvalidArgument,
              fmt::format("'{}' is no duration: {}; write it like 90s, 1h30m or 500ms", shown_text(text),
                          why));
}

/// The digits at the front, at most 15 of them.
std::optional<std::int64_t> read_number(std::string_view& rest) {
  std::int64_t value = 0;
  std::size_t length = 0;
  while (length < rest.size() && is_digit(rest[length]) && length < 15) {
    value = value * 10 + (rest[length++] - '0');
  }
  if (length == 0) return std::nullopt;
  rest.remove_prefix(length);
  return value;
}

std::string_view read_letters(std::string_view& rest) {
  std::size_t length = 0;
  while (length < rest.size() && !is_digit(rest[length])) ++length;
  const auto letters = rest.substr(0, length);
  rest.remove_prefix(length);
  return letters;
}

/// The number in exactly `digits` digits at `at`.
std::optional<int> digits_at(std::string_view text, std::size_t at, std::size_t digits) {
  if (at + digits > text.size()) return std::nullopt;
  int value = 0;
  for (std::size_t i = at; i < at + digits; ++i) {
    if (!is_digit(text[i])) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

/// Reads ".5" as 500 ms and sets `rest` to what follows. Drops digits after the third.
std::optional<Millis> read_fraction(std::string_view& rest) {
  if (rest.empty() || rest.front() != '.') return Millis{0};
  rest.remove_prefix(1);
  std::int64_t ms = 0;
  std::int64_t weight = 100;
  std::size_t count = 0;
  for (; count < rest.size() && is_digit(rest[count]); ++count) {
    ms += (rest[count] - '0') * weight;
    weight /= 10;
  }
  if (count == 0) return std::nullopt;
  rest.remove_prefix(count);
  return Millis{ms};
}

/// "Z", "+02:00" or "-0330".
std::optional<Millis> zone_offset(std::string_view zone) {
  if (zone == "Z" || zone == "z") return Millis{0};
  if (zone.size() < 5 || (zone[0] != '+' && zone[0] != '-')) return std::nullopt;
  const std::size_t minutes_at = zone[3] == ':' ? 4 : 3;
  const auto hours = digits_at(zone, 1, 2);
  const auto minutes = digits_at(zone, minutes_at, 2);
  if (!hours || !minutes || zone.size() != minutes_at + 2) return std::nullopt;
  if (*hours > 23 || *minutes > 59) return std::nullopt;
  const Millis offset = std::chrono::hours{*hours} + std::chrono::minutes{*minutes};
  return zone[0] == '-' ? -offset : offset;
}

std::optional<WallTime> moment_from(std::string_view text) {
  using namespace std::chrono;
  constexpr std::string_view kPunctuation = "-- ::";
  if (text.size() < 20) return std::nullopt;
  const auto y = digits_at(text, 0, 4), mo = digits_at(text, 5, 2), d = digits_at(text, 8, 2);
  const auto h = digits_at(text, 11, 2), mi = digits_at(text, 14, 2), s = digits_at(text, 17, 2);
  if (!y || !mo || !d || !h || !mi || !s) return std::nullopt;
  for (std::size_t i = 0; i < kPunctuation.size(); ++i) {
    const char c = text[4 + 3 * i];
    if (c != kPunctuation[i] && !(i == 2 && (c == 'T' || c == 't'))) return std::nullopt;
  }
  const year_month_day date{year{*y}, month{static_cast<unsigned>(*mo)},
                            day{static_cast<unsigned>(*d)}};
  if (!date.ok() || *y < 1970 || *h > 23 || *mi > 59 || *s > 59) return std::nullopt;
  std::string_view rest = text.substr(19);
  const auto fraction = read_fraction(rest);
  if (!fraction) return std::nullopt;
  const auto offset = zone_offset(rest);
  if (!offset) return std::nullopt;
  const WallTime moment = sys_days{date} + hours{*h} + minutes{*mi} + seconds{*s} + *fraction - *offset;
  const bool is_near = moment >= WallTime{} && moment < sys_days{year{10'000} / 1 / 1};
  return is_near ? std::optional(moment) : std::nullopt;
}

}  // namespace

Result<Millis> parse_duration(std::string_view text) {
  if (text == "0") return Millis{0};
  if (text.empty()) return wrong_duration(text, "it is empty");
  std::string_view rest = text;
  const Unit* smallest = nullptr;
  std::int64_t total = 0;
  while (!rest.empty()) {
    const auto number = read_number(rest);
    if (!number) return wrong_duration(text, "a whole number is expected before each unit");
    const auto name = read_letters(rest);
    const Unit* unit = nullptr;
    for (const Unit& each : kUnits) {
      if (each.name == name) unit = &each;
    }
    if (unit == nullptr) return wrong_duration(text, "units are d, h, m, s and ms");
    if (smallest != nullptr && unit <= smallest) {
      return wrong_duration(text, "each unit may appear once, the longest first");
    }
    smallest = unit;
    if (*number > kMostMs / unit->ms) return wrong_duration(text, "it is longer than 100 years");
    total += *number * unit->ms;
  }
  if (total > kMostMs) return wrong_duration(text, "it is longer than 100 years");
  return Millis{total};
}

std::string format_duration(Millis duration) {
  std::int64_t rest = duration.count();
  if (rest == 0) return "0s";
  std::string out = rest < 0 ? "-" : "";
  if (rest < 0) rest = -rest;
  for (const Unit& unit : kUnits) {
    if (rest >= unit.ms) out += fmt::format("{}{}", rest / unit.ms, unit.name);
    rest %= unit.ms;
  }
  return out;
}

Result<WallTime> parse_moment(std::string_view text) {
  if (const auto moment = moment_from(text)) return *moment;
  return fail(ErrorCode::InvalidArgument,
              fmt::format("'{}' is no moment; write it like 2026-03-29T02:30:00Z or "
                          "2026-03-29T02:30:00+02:00",
                          shown_text(text)));
}

std::string format_moment(WallTime moment) {
  using namespace std::chrono;
  const auto day = floor<days>(moment);
  const year_month_day date{day};
  const hh_mm_ss<Millis> time{moment - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", int(date.year()),
                     unsigned(date.month()), unsigned(date.day()), time.hours().count(),
                     time.minutes().count(), time.seconds().count(), time.subseconds().count());
}

}  // namespace rota
