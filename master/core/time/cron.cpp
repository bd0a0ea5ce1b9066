// Reading cron expressions: which fields there are, what they mean together, and whether they can
// ever come true.
#include "master/core/time/cron.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "master/core/time/cron_field.h"

namespace rota::master::core {
namespace {

using model::CronDialect;

std::vector<CronToken> split(std::string_view text) {
  std::vector<CronToken> tokens;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    CronToken token{"", static_cast<int>(at) + 1};
    for (; at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) == 0; ++at) {
      token.text += static_cast<char>(std::toupper(static_cast<unsigned char>(text[at])));
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

/// The fields in a fixed order, with those that were not written filled in.
struct Fields {
  CronFieldValues second, minute, hour, month_day, month, weekday, year;
};

CronFieldValues& field_of(Fields& fields, CronPart part) {
  switch (part) {
    case CronPart::Second: return fields.second;
    case CronPart::Minute: return fields.minute;
    case CronPart::Hour: return fields.hour;
    case CronPart::MonthDay: return fields.month_day;
    case CronPart::Month: return fields.month;
    case CronPart::Weekday: return fields.weekday;
    case CronPart::Year: break;
  }
  return fields.year;
}

Result<bool> is_quartz(const std::vector<CronToken>& tokens, CronDialect dialect) {
  const auto question = std::find_if(tokens.begin(), tokens.end(),
                                     [](const CronToken& token) { return token.text == "?"; });
  const bool quartz =
      dialect == CronDialect::Quartz ||
      (dialect == CronDialect::Guess && (question != tokens.end() || tokens.size() == 7));
  if (tokens.size() >= 5 && tokens.size() <= 7 && !(quartz && tokens.size() == 5)) return quartz;
  const std::string why = quartz && tokens.size() == 5
                              ? "a Quartz cron (with ?) needs the second before the minute"
                              : "a cron has 5 fields (minute hour day-of-month month day-of-week), "
                                "6 with the second first, or 7 with the year last";
  const int column = tokens.empty() ? 1 : tokens.back().column;
  return fail(ErrorCode::InvalidArgument,
              fmt::format("column {}: {} field{} given; {}", column, tokens.size(),
                          tokens.size() == 1 ? " is" : "s are", why));
}

Result<Fields> read_fields(const std::vector<CronToken>& tokens, bool quartz,
                           std::optional<std::uint64_t> hash) {
  static constexpr CronPart kOrder[] = {CronPart::Second,   CronPart::Minute, CronPart::Hour,
                                        CronPart::MonthDay, CronPart::Month,  CronPart::Weekday,
                                        CronPart::Year};
  Fields fields;
  fields.second.values.set(0);
  fields.year.plain_star = true;
  const std::size_t first = tokens.size() == 5 ? 1 : 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const CronPart part = kOrder[first + i];
    auto values = read_cron_field(tokens[i], part, quartz, hash);
    if (!values) return fail(values.error());
    field_of(fields, part) = std::move(*values);
  }
  return fields;
}

/// Quartz reads one of the two day fields and wants a '?' in the other.
Result<void> check_day_fields(const Fields& fields, const std::vector<CronToken>& tokens,
                              bool quartz) {
  const std::size_t weekday = tokens.size() == 5 ? 4 : 5;
  const int column = tokens[weekday].column;
  if (fields.month_day.question && fields.weekday.question) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("column {}, day of week: '?' stands in both day fields; write * or a "
                            "day in one of them",
                            column));
  }
  if (quartz && !fields.month_day.plain_star && !fields.weekday.plain_star) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("column {}, day of week: Quartz reads only one of the day fields; "
                            "write ? in the other, or set the dialect to unix",
                            column));
  }
  return {};
}

template <typename Bits>
Bits low_bits(const CronFieldValues& field) {
  return static_cast<Bits>((field.values & std::bitset<256>(~std::uint64_t{0})).to_ullong());
}

CronExpression assemble(const Fields& fields, bool quartz) {
  CronExpression cron;
  cron.seconds = low_bits<std::uint64_t>(fields.second);
  cron.minutes = low_bits<std::uint64_t>(fields.minute);
  cron.hours = low_bits<std::uint32_t>(fields.hour);
  cron.month_days = low_bits<std::uint32_t>(fields.month_day);
  cron.months = low_bits<std::uint16_t>(fields.month);
  cron.weekdays = low_bits<std::uint8_t>(fields.weekday);
  cron.nearest_weekdays = fields.month_day.nearest;
  cron.month_end = fields.month_day.month_end;
  cron.nth_weekdays = fields.weekday.nth;
  cron.both_day_fields =
      quartz || fields.month_day.begins_with_star || fields.weekday.begins_with_star;
  cron.follows_elapsed_time = fields.minute.wildcard || fields.hour.wildcard;
  cron.every_year = fields.year.plain_star;
  for (std::size_t i = 0; i < cron.years.size(); ++i) cron.years[i] = fields.year.values[i];
  cron.quartz = quartz;
  return cron;
}

}  // namespace

Result<CronExpression> parse_cron(std::string_view text, CronDialect dialect,
                                  std::optional<std::uint64_t> hash) {
  const auto tokens = split(text);
  const auto quartz = is_quartz(tokens, dialect);
  if (!quartz) return fail(quartz.error());
  const auto fields = read_fields(tokens, *quartz, hash);
  if (!fields) return fail(fields.error());
  if (auto days = check_day_fields(*fields, tokens, *quartz); !days) return fail(days.error());
  CronExpression cron = assemble(*fields, *quartz);
  if (!next_local_match(cron, 0)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("column {}, day of month: this cron can never fire: no such day "
                            "exists in the months and years given",
                            tokens[tokens.size() == 5 ? 2 : 3].column));
  }
  return cron;
}

}  // namespace rota::master::core
