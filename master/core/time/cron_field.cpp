#include "master/core/time/cron_field.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <span>
#include <string_view>

#include "common/base/utf8.h"
#include "master/core/time/cron_hash.h"

namespace rota::master::core {
namespace {

constexpr std::string_view kMonthNames[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                            "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::string_view kDayNames[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};

constexpr int kLongestMonthOfAll = 28;  // that all months have: H of a day of month lies in it

struct FieldRule {
  CronPart part;
  std::string_view name;
  int min;
  int max;
  std::span<const std::string_view> words;  ///< names of the values from first_word on
  int first_word;
};

FieldRule rule_of(CronPart part, bool quartz) {
  switch (part) {
    case CronPart::Second: return {part, "second", 0, 59, {}, 0};
    case CronPart::Minute: return {part, "minute", 0, 59, {}, 0};
    case CronPart::Hour: return {part, "hour", 0, 23, {}, 0};
    case CronPart::MonthDay: return {part, "day of month", 1, 31, {}, 0};
    case CronPart::Month: return {part, "month", 1, 12, kMonthNames, 1};
    case CronPart::Weekday:
      return quartz ? FieldRule{part, "day of week", 1, 7, kDayNames, 1}
                    : FieldRule{part, "day of week", 0, 7, kDayNames, 0};
    case CronPart::Year: break;
  }
  return {CronPart::Year, "year", kCronFirstYear, kCronLastYear, {}, 0};
}

class FieldReader {
 public:
  FieldReader(const CronToken& token, const FieldRule& rule, bool quartz, std::optional<std::uint64_t> hash)
      : token_(token), rule_(rule), quartz_(quartz), hash_(hash) {}

  Result<CronFieldValues> read();

 private:
  struct Range {
    int from = 0;
    int to = 0;
    bool single = false;
  };

  tl::unexpected<Error> wrong(std::size_t at, const std::string& why) const {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("column {}, {}: {}", token_.column + static_cast<int>(at), rule_.name, why));
  }
  /// The character here, as it may be shown.
  std::string shown_here() const {
    const auto rest = std::string_view(token_.text).substr(at_);
    return shown_text(rest.substr(0, std::max<std::size_t>(first_character(rest).bytes, 1)));
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
  bool is_hash() const;
  Result<void> read_hash();
  Result<void> read_range(std::size_t begin);
  Result<bool> read_special(int value, std::size_t begin);
  Result<Range> read_bounds(std::size_t begin);
  Result<int> read_step();
  Result<int> read_value();
  Result<int> read_word();
  Result<int> read_number();
  void add(const Range& range, int step);
  int weekday_of(int value) const { return (value - (quartz_ ? 1 : 0)) % 7; }
  int period() const { return rule_.part == CronPart::Weekday ? 7 : rule_.max - rule_.min + 1; }

  const CronToken& token_;
  const FieldRule& rule_;
  const bool quartz_;
  const std::optional<std::uint64_t> hash_;
  std::size_t at_ = 0;
  CronFieldValues out_;
};

Result<CronFieldValues> FieldReader::read() {
  out_.begins_with_star = peek() == '*' || peek() == '?';
  out_.plain_star = token_.text == "*" || token_.text == "?";
  do {
    if (auto item = read_item(); !item) return fail(item.error());
    if (!item_over()) {
      return wrong(at_, fmt::format("'{}' is not expected here", shown_here()));
    }
  } while (take(','));
  return std::move(out_);
}

Result<void> FieldReader::read_item() {
  if (item_over()) return wrong(at_, "a value is missing");
  const std::size_t begin = at_;
  if (peek() == '?') return read_question();
  if (is_hash()) return read_hash();
  if (rule_.part == CronPart::MonthDay && peek() == 'L') return read_month_end();
  if (rule_.part == CronPart::Weekday && token_.text.substr(at_, 2) == "L") {
    if (!quartz_) return wrong(begin, "L alone is Quartz's Saturday; write 6, or 6L for the last");
    ++at_;
    out_.values.set(6);
    return {};
  }
  return read_range(begin);
}

Result<void> FieldReader::read_question() {
  if (rule_.part != CronPart::MonthDay && rule_.part != CronPart::Weekday) {
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

bool FieldReader::is_hash() const {
  if (peek() != 'H') return false;
  const std::size_t next = at_ + 1;
  if (next >= token_.text.size()) return true;
  return std::string_view("(/,").find(token_.text[next]) != std::string_view::npos;
}

/// H, H(0-29), H/15, H(0-29)/10, as Jenkins reads them: the job's name decides the number, or where to begin.
Result<void> FieldReader::read_hash() {
  const std::size_t begin = at_++;
  if (rule_.part == CronPart::Year) return wrong(begin, "H does not stand for a year");
  if (!hash_) return wrong(begin, "H needs the name of a job, which is not known here");
  Range range{rule_.min, rule_.max, false};
  if (rule_.part == CronPart::MonthDay) range.to = kLongestMonthOfAll;
  if (rule_.part == CronPart::Weekday) range.to = rule_.min + 6;
  if (take('(')) {
    const auto given = read_bounds(at_);
    if (!given) return fail(given.error());
    if (!take(')') || given->to < given->from) return wrong(begin, "write the range of H as H(0-29)");
    range = *given;
  }
  const bool stepped = peek() == '/';
  const auto step = stepped ? read_step() : Result<int>(period());
  if (!step) return fail(step.error());
  const int size = range.to - range.from + 1;
  if (stepped && size >= period()) out_.wildcard = true;
  range.from += static_cast<int>(spread(*hash_, rule_.name, stepped ? std::min(*step, size) : size));
  if (!stepped) range.to = range.from;
  add(range, *step);
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
  if (*to < *from && rule_.part == CronPart::Year) {
    return wrong(begin, fmt::format("the range {}-{} runs backwards", *from, *to));
  }
  return Range{*from, *to, false};
}

/// 15W, 6#3, 6L. True when it was one.
Result<bool> FieldReader::read_special(int value, std::size_t begin) {
  if (rule_.part == CronPart::MonthDay && take('W')) {
    out_.nearest |= 1u << value;
    return true;
  }
  if (rule_.part != CronPart::Weekday) return false;
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
  const int most = rule_.part == CronPart::Year ? period() : rule_.max;
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
    return wrong(at_, fmt::format("'{}' is no number", shown_text(rest.substr(0, length))));
  }
  return wrong(at_, fmt::format("'{}' is no name of a {} ({} to {})", shown_text(rest.substr(0, length)),
                                rule_.part == CronPart::Month ? "month" : "day",
                                rule_.words.front(), rule_.words.back()));
}

Result<int> FieldReader::read_number() {
  const std::size_t begin = at_;
  int value = 0;
  while (std::isdigit(static_cast<unsigned char>(peek())) != 0 && at_ - begin < 6) {
    value = value * 10 + (token_.text[at_++] - '0');
  }
  if (at_ != begin) return value;
  if (item_over()) return wrong(begin, "a number is missing");
  return wrong(begin, fmt::format("'{}' is no number", shown_here()));
}

void FieldReader::add(const Range& range, int step) {
  const int to = range.to < range.from ? range.to + period() : range.to;  // FRI-MON wraps
  for (int value = range.from; value <= to; value += step) {
    int index = value;
    if (rule_.part == CronPart::Weekday) {
      index = weekday_of(value);
    } else if (rule_.part == CronPart::Year) {
      index = value - kCronFirstYear;
    } else if (value > rule_.max) {
      index = value - period();
    }
    out_.values.set(static_cast<std::size_t>(index));
  }
}

}  // namespace

Result<CronFieldValues> read_cron_field(const CronToken& token, CronPart part, bool quartz,
                                        std::optional<std::uint64_t> hash) {
  const FieldRule rule = rule_of(part, quartz);
  return FieldReader(token, rule, quartz, hash).read();
}

}  // namespace rota::master::core
