// Reading cron expressions: fields to sets of values, with errors that point at the character.
#include "master/core/cron.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>

namespace rota::master::core {
namespace {

using namespace std::string_view_literals;
using model::CronDialect;

enum class Part { Second, Minute, Hour, MonthDay, Month, Weekday, Year };

constexpr std::string_view kMonthNames[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                            "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::string_view kDayNames[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

struct FieldRule {
  Part part;
  std::string_view name;
  int min;
  int max;
  std::span<const std::string_view> words;  ///< names of the values from first_word on
  int first_word;
};

FieldRule rule_of(Part part, bool quartz) {
  switch (part) {
    case Part::Second: return {part, "second", 0, 59, {}, 0};
    case Part::Minute: return {part, "minute", 0, 59, {}, 0};
    case Part::Hour: return {part, "hour", 0, 23, {}, 0};
    case Part::MonthDay: return {part, "day of month", 1, 31, {}, 0};
    case Part::Month: return {part, "month", 1, 12, kMonthNames, 1};
    case Part::Weekday:
      return quartz ? FieldRule{part, "day of week", 1, 7, kDayNames, 1}
                    : FieldRule{part, "day of week", 0, 7, kDayNames, 0};
    case Part::Year: break;
  }
  return {Part::Year, "year", kCronFirstYear, kCronLastYear, {}, 0};
}

/// A field of the text and where it begins (columns count from 1).
struct Token {
  std::string text;  ///< in capitals
  int column = 1;
};

/// What one field says. Bit i of `values` stands for the value base + i, base as in FieldReader.
struct FieldValues {
  std::bitset<256> values;
  bool begins_with_star = false;
  bool plain_star = false;      ///< "*" or "?", so it restricts nothing
  bool question = false;
  bool wildcard = false;        ///< some item covers the field from end to end, with or without step
  std::uint32_t nearest = 0;
  std::vector<CronExpression::FromMonthEnd> month_end;
  std::vector<CronExpression::NthWeekday> nth;
};

class FieldReader {
 public:
  FieldReader(const Token& token, const FieldRule& rule, bool quartz)
      : token_(token), rule_(rule), quartz_(quartz) {}

  Result<FieldValues> read();

 private:
  struct Range {
    int from = 0;
    int to = 0;
    bool single = false;
  };

  tl::unexpected<Error> wrong(std::size_t at, const std::string& why) const {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("column {}, {}: {}", token_.column + static_cast<int>(at), rule_.name,
                            why));
  }
  bool at_end() const { return at_ >= token_.text.size(); }
  char peek() const { return at_end() ? '\0' : token_.text[at_]; }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  bool item_over() const { return at_end() || peek() == ','; }

  Result<void> read_item();
  Result<void> read_question();
  Result<void> read_month_end();
  Result<void> read_range(std::size_t begin);
  Result<bool> read_special(int value, std::size_t begin);
  Result<Range> read_bounds(std::size_t begin);
  Result<int> read_step();
  Result<int> read_value();
  Result<int> read_word();
  Result<int> read_number();
  void add(const Range& range, int step);
  int weekday_of(int value) const { return (value - (quartz_ ? 1 : 0)) % 7; }
  int period() const { return rule_.part == Part::Weekday ? 7 : rule_.max - rule_.min + 1; }

  const Token& token_;
  const FieldRule& rule_;
  const bool quartz_;
  std::size_t at_ = 0;
  FieldValues out_;
};

Result<FieldValues> FieldReader::read() {
  out_.begins_with_star = peek() == '*' || peek() == '?';
  out_.plain_star = token_.text == "*" || token_.text == "?";
  do {
    if (auto item = read_item(); !item) return fail(item.error());
    if (!item_over()) {
      return wrong(at_, fmt::format("'{}' is not expected here", peek()));
    }
  } while (take(','));
  return std::move(out_);
}

Result<void> FieldReader::read_item() {
  if (item_over()) return wrong(at_, "a value is missing");
  const std::size_t begin = at_;
  if (peek() == '?') return read_question();
  if (rule_.part == Part::MonthDay && peek() == 'L') return read_month_end();
  if (rule_.part == Part::Weekday && token_.text.substr(at_, 2) == "L") {
    if (!quartz_) return wrong(begin, "L alone is Quartz's Saturday; write 6, or 6L for the last");
    ++at_;
    out_.values.set(6);
    return {};
  }
  return read_range(begin);
}

Result<void> FieldReader::read_question() {
  if (rule_.part != Part::MonthDay && rule_.part != Part::Weekday) {
    return wrong(at_, "'?' stands only in day of month or day of week; write *");
  }
  if (token_.text.size() != 1) return wrong(at_, "'?' stands alone");
  ++at_;
  out_.question = true;
  add({rule_.min, rule_.max, false}, 1);
  return {};
}

/// L, L-3, LW, L-3W
Result<void> FieldReader::read_month_end() {
  ++at_;
  CronExpression::FromMonthEnd end;
  if (take('-')) {
    const std::size_t begin = at_;
    const auto offset = read_number();
    if (!offset) return fail(offset.error());
    if (*offset > 30) return wrong(begin, fmt::format("L-{} is beyond L-30", *offset));
    end.offset = static_cast<std::uint8_t>(*offset);
  }
  end.nearest_weekday = take('W');
  out_.month_end.push_back(end);
  return {};
}

Result<void> FieldReader::read_range(std::size_t begin) {
  const auto range = read_bounds(begin);
  if (!range) return fail(range.error());
  if (range->single) {
    const auto special = read_special(range->from, begin);
    if (!special) return fail(special.error());
    if (*special) return {};
  }
  const bool stepped = peek() == '/';
  int step = 1;
  if (stepped) {
    const auto read = read_step();
    if (!read) return fail(read.error());
    step = *read;
  }
  Range all = *range;
  if (all.single && stepped) all.to = rule_.max;  // "5/10": from 5 on, as cron and Quartz do
  if (all.from == rule_.min && all.to == rule_.max) out_.wildcard = true;
  add(all, step);
  return {};
}

Result<FieldReader::Range> FieldReader::read_bounds(std::size_t begin) {
  if (take('*')) return Range{rule_.min, rule_.max, false};
  const auto from = read_value();
  if (!from) return fail(from.error());
  if (!take('-')) return Range{*from, *from, true};
  const auto to = read_value();
  if (!to) return fail(to.error());
  if (*to < *from && rule_.part == Part::Year) {
    return wrong(begin, fmt::format("the range {}-{} runs backwards", *from, *to));
  }
  return Range{*from, *to, false};
}

/// 15W, 6#3, 6L. True when it was one.
Result<bool> FieldReader::read_special(int value, std::size_t begin) {
  if (rule_.part == Part::MonthDay && take('W')) {
    out_.nearest |= 1u << value;
    return true;
  }
  if (rule_.part != Part::Weekday) return false;
  CronExpression::NthWeekday nth{static_cast<std::uint8_t>(weekday_of(value)), 0};
  if (take('#')) {
    const auto count = read_number();
    if (!count) return fail(count.error());
    if (*count < 1 || *count > 5) return wrong(begin, "after # stands 1 to 5");
    nth.nth = static_cast<std::uint8_t>(*count);
  } else if (!take('L')) {
    return false;
  }
  out_.nth.push_back(nth);
  return true;
}

Result<int> FieldReader::read_step() {
  ++at_;
  const std::size_t begin = at_;
  const auto step = read_number();
  if (!step) return step;
  const int most = rule_.part == Part::Year ? period() : rule_.max;
  if (*step < 1 || *step > most) {
    return wrong(begin, fmt::format("a step of {} is out of range (1 to {})", *step, most));
  }
  return step;
}

Result<int> FieldReader::read_value() {
  const std::size_t begin = at_;
  const bool word = std::isalpha(static_cast<unsigned char>(peek())) != 0;
  const auto value = word ? read_word() : read_number();
  if (!value) return value;
  if (*value < rule_.min || *value > rule_.max) {
    return wrong(begin, fmt::format("{} is out of range ({} to {})", *value, rule_.min, rule_.max));
  }
  return value;
}

Result<int> FieldReader::read_word() {
  const std::string_view rest = std::string_view(token_.text).substr(at_);
  for (std::size_t i = 0; i < rule_.words.size(); ++i) {
    if (!rest.starts_with(rule_.words[i])) continue;
    at_ += rule_.words[i].size();
    return rule_.first_word + static_cast<int>(i);
  }
  const auto length = rest.find_first_of(",-/#");
  if (rule_.words.empty()) {
    return wrong(at_, fmt::format("'{}' is no number", rest.substr(0, length)));
  }
  return wrong(at_, fmt::format("'{}' is no name of a {} ({} to {})", rest.substr(0, length),
                                rule_.part == Part::Month ? "month" : "day", rule_.words.front(),
                                rule_.words.back()));
}

Result<int> FieldReader::read_number() {
  const std::size_t begin = at_;
  int value = 0;
  while (std::isdigit(static_cast<unsigned char>(peek())) != 0 && at_ - begin < 6) {
    value = value * 10 + (token_.text[at_++] - '0');
  }
  if (at_ != begin) return value;
  if (item_over()) return wrong(begin, "a number is missing");
  return wrong(begin, fmt::format("'{}' is no number", peek()));
}

void FieldReader::add(const Range& range, int step) {
  const int to = range.to < range.from ? range.to + period() : range.to;  // FRI-MON wraps
  for (int value = range.from; value <= to; value += step) {
    int index = value;
    if (rule_.part == Part::Weekday) {
      index = weekday_of(value);
    } else if (rule_.part == Part::Year) {
      index = value - kCronFirstYear;
    } else if (value > rule_.max) {
      index = value - period();
    }
    out_.values.set(static_cast<std::size_t>(index));
  }
}

std::vector<Token> split(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
      continue;
    }
    Token token{"", static_cast<int>(at) + 1};
    for (; at < text.size() && std::isspace(static_cast<unsigned char>(text[at])) == 0; ++at) {
      token.text += static_cast<char>(std::toupper(static_cast<unsigned char>(text[at])));
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

/// The fields in a fixed order, with those that were not written filled in.
struct Fields {
  FieldValues second, minute, hour, month_day, month, weekday, year;
};

FieldValues& field_of(Fields& fields, Part part) {
  switch (part) {
    case Part::Second: return fields.second;
    case Part::Minute: return fields.minute;
    case Part::Hour: return fields.hour;
    case Part::MonthDay: return fields.month_day;
    case Part::Month: return fields.month;
    case Part::Weekday: return fields.weekday;
    case Part::Year: break;
  }
  return fields.year;
}

Result<bool> is_quartz(const std::vector<Token>& tokens, CronDialect dialect) {
  const auto question = std::find_if(tokens.begin(), tokens.end(),
                                     [](const Token& token) { return token.text == "?"; });
  const bool quartz = dialect == CronDialect::Quartz ||
                      (dialect == CronDialect::Guess &&
                       (question != tokens.end() || tokens.size() == 7));
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

Result<Fields> read_fields(const std::vector<Token>& tokens, bool quartz) {
  static constexpr Part kOrder[] = {Part::Second, Part::Minute,  Part::Hour, Part::MonthDay,
                                    Part::Month,  Part::Weekday, Part::Year};
  Fields fields;
  fields.second.values.set(0);
  fields.year.plain_star = true;
  const std::size_t first = tokens.size() == 5 ? 1 : 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const FieldRule rule = rule_of(kOrder[first + i], quartz);
    auto values = FieldReader(tokens[i], rule, quartz).read();
    if (!values) return fail(values.error());
    field_of(fields, rule.part) = std::move(*values);
  }
  return fields;
}

/// Quartz reads one of the two day fields and wants a '?' in the other.
Result<void> check_day_fields(const Fields& fields, const std::vector<Token>& tokens, bool quartz) {
  const std::size_t weekday = tokens.size() == 5 ? 4 : 5;
  const int column = tokens[weekday].column;
  if (fields.month_day.question && fields.weekday.question) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("column {}, day of week: '?' stands in both day fields; write * or a "
                            "day in one of them", column));
  }
  if (quartz && !fields.month_day.plain_star && !fields.weekday.plain_star) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("column {}, day of week: Quartz reads only one of the day fields; "
                            "write ? in the other, or set the dialect to unix", column));
  }
  return {};
}

template <typename Bits>
Bits low_bits(const FieldValues& field) {
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
  cron.both_day_fields = quartz || fields.month_day.begins_with_star ||
                         fields.weekday.begins_with_star;
  cron.follows_elapsed_time = fields.minute.wildcard || fields.hour.wildcard;
  cron.every_year = fields.year.plain_star;
  for (std::size_t i = 0; i < cron.years.size(); ++i) cron.years[i] = fields.year.values[i];
  cron.quartz = quartz;
  return cron;
}

}  // namespace

Result<CronExpression> parse_cron(std::string_view text, CronDialect dialect) {
  const auto tokens = split(text);
  const auto quartz = is_quartz(tokens, dialect);
  if (!quartz) return fail(quartz.error());
  const auto fields = read_fields(tokens, *quartz);
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
