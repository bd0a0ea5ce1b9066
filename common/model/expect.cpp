#include "common/model/expect.h"

#include <fmt/format.h>

#include "common/base/duration_text.h"
#include "common/base/utf8.h"

namespace rota::model {
namespace {

constexpr std::int32_t kMostTimes = 1'000'000;  // in thousandths
constexpr Millis kLongest = std::chrono::hours{24 * 365};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

Error wrong_times(std::string_view text) {
  return {ErrorCode::InvalidArgument,
          fmt::format("{} must be from 1x to 1000x, with at most three places behind the point",
                      quoted_text(text))};
}

Result<LongerThan> times_from_text(std::string_view text) {
  const std::string_view number = text.substr(0, text.size() - 1);
  const std::size_t point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  const std::string_view part = point == std::string_view::npos ? "" : number.substr(point + 1);
  const bool has_empty = whole.empty() || (point != std::string_view::npos && part.empty());
  if (has_empty || whole.size() > 4 || part.size() > 3) return fail(wrong_times(text));
  std::int32_t thousandths = 0;
  for (const char c : whole) {
    if (!is_digit(c)) return fail(wrong_times(text));
    thousandths = thousandths * 10 + (c - '0');
  }
  for (std::size_t i = 0; i < 3; ++i) {
    if (i < part.size() && !is_digit(part[i])) return fail(wrong_times(text));
    thousandths = thousandths * 10 + (i < part.size() ? part[i] - '0' : 0);
  }
  if (thousandths < 1000 || thousandths > kMostTimes) return fail(wrong_times(text));
  return LongerThan{Millis{0}, thousandths};
}

}  // namespace

Result<LongerThan> longer_than_from_text(std::string_view text) {
  if (text.ends_with('x')) return times_from_text(text);
  const auto most = parse_duration(text);
  if (!most) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} is neither a duration like 30m nor a multiple like 3x", quoted_text(text)));
  }
  if (*most <= Millis{0} || *most > kLongest) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} must be from 1ms to 365d", quoted_text(text)));
  }
  return LongerThan{*most, 0};
}

Result<std::int32_t> finish_by_from_text(std::string_view text) {
  const bool has_form = text.size() == 5 && text[2] == ':' && is_digit(text[0]) && is_digit(text[1]) &&
                        is_digit(text[3]) && is_digit(text[4]);
  const std::int32_t hour = has_form ? (text[0] - '0') * 10 + (text[1] - '0') : 24;
  const std::int32_t minute = has_form ? (text[3] - '0') * 10 + (text[4] - '0') : 60;
  if (hour > 23 || minute > 59) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("{} must be a local time from 00:00 to 23:59, like \"07:30\"",
                            quoted_text(text)));
  }
  return hour * 60 + minute;
}

}  // namespace rota::model
