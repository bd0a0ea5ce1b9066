#include "common/model/retry_text.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "common/base/duration_text.h"

namespace rota::model {
namespace {

constexpr std::int32_t kMostStatus = 255;
constexpr std::int32_t kMostSignal = 64;

std::optional<std::int32_t> whole_number_in(std::string_view text) {
  std::int32_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return is_whole ? std::optional(number) : std::nullopt;
}

/// The part before the separator; `left` goes on behind it.
std::string_view cut_line_at(std::string_view& left, char separator) {
  const std::size_t at = std::min(left.find(separator), left.size());
  const std::string_view first = left.substr(0, at);
  left.remove_prefix(std::min(at + 1, left.size()));
  return first;
}

std::string_view without_outer_spaces(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

tl::unexpected<Error> bad_line(std::string what) { return fail(ErrorCode::InvalidArgument, std::move(what)); }

bool any_contains(const std::vector<NumberRange>& ranges, std::int32_t number) {
  return std::ranges::any_of(
      ranges, [&](const NumberRange& range) { return range.low <= number && number <= range.high; });
}

bool is_meant(const EndFilter& filter, const Outcome& outcome) {
  switch (filter.kind) {
    case EndFilter::Kind::Word:
      return filter.word == name_of(outcome.state) || filter.word == name_of(outcome.reason);
    case EndFilter::Kind::Exit:
      return outcome.state == RunState::Failed && any_contains(filter.numbers, outcome.exit_status);
    case EndFilter::Kind::Signal:
      return outcome.state == RunState::Failed && any_contains(filter.numbers, outcome.signal);
  }
  return false;
}

Result<void> read_clause(std::string_view clause, AgainRule& into) {
  std::string_view value = clause;
  const std::string_view key = cut_line_at(value, ' ');
  if (key == "exit") {
    auto ranges = ranges_from_text(value, kMostStatus);
    if (!ranges) return fail(ranges.error());
    into.exit = std::move(*ranges);
    return {};
  }
  if (key != "every" && key != "at_most") {
    return bad_line("'" + std::string(key) + "' is unknown; again takes exit, every and at_most");
  }
  const auto duration = parse_duration(value);
  if (!duration) return bad_line(std::string(key) + ": " + duration.error().message);
  if (*duration < kAgainLeast || *duration > kAgainMost) {
    return bad_line(std::string(key) + ": " + format_duration(*duration) +
               " is out of range; write a duration from 1s to 365d");
  }
  (key == "every" ? into.every : into.at_most) = *duration;
  return {};
}

}  // namespace

Result<std::vector<NumberRange>> ranges_from_text(std::string_view text, std::int32_t most) {
  std::vector<NumberRange> out;
  for (std::string_view left = text; !left.empty();) {
    const std::string_view one = without_outer_spaces(cut_line_at(left, ','));
    std::string_view rest = one;
    const auto low = whole_number_in(cut_line_at(rest, '-'));
    const auto high = rest.empty() ? low : whole_number_in(rest);
    if (!low || !high || *low < 1 || *high > most || *low > *high || one.ends_with('-')) {
      return bad_line("'" + std::string(one) + "' is no number from 1 to " + std::to_string(most) +
                 ", and no range of them like 100-110");
    }
    out.push_back({*low, *high});
  }
  if (out.empty()) return bad_line("no number is given; write one from 1 to " + std::to_string(most));
  if (out.size() > kMostRanges) return bad_line("more than 32 numbers and ranges are given; join some");
  return out;
}

std::string text_of(const std::vector<NumberRange>& ranges) {
  std::string out;
  for (const NumberRange& range : ranges) {
    out += (out.empty() ? "" : ",") + std::to_string(range.low);
    if (range.high != range.low) out += "-" + std::to_string(range.high);
  }
  return out;
}

const std::vector<std::string_view>& end_words() {
  static const std::vector<std::string_view> kWords = {
      "failed",          "timed_out",          "exit_status",  "signalled",        "start_failed",
      "handler_failed",  "refused_by_worker",  "output_lost",  "memory_exceeded",  "processes_exceeded",
      "cpu_exceeded",    "folder_exceeded",    "file_size_exceeded"};
  return kWords;
}

Result<EndFilter> end_filter_from_text(std::string_view line) {
  EndFilter out;
  std::string_view numbers = line;
  const std::string_view word = cut_line_at(numbers, ' ');
  if (word == "exit" || word == "signal") {
    out.kind = word == "exit" ? EndFilter::Kind::Exit : EndFilter::Kind::Signal;
    auto ranges = ranges_from_text(numbers, word == "exit" ? kMostStatus : kMostSignal);
    if (!ranges) return bad_line(std::string(word) + ": " + ranges.error().message);
    out.numbers = std::move(*ranges);
    return out;
  }
  if (std::ranges::find(end_words(), line) == end_words().end()) {
    std::string all;
    for (const std::string_view each : end_words()) all += (all.empty() ? "" : ", ") + std::string(each);
    return bad_line("'" + std::string(line) +
               "' is no end of an attempt; write {exit: [75]}, {signal: [9]} or one of " + all);
  }
  out.word = line;
  return out;
}

std::string text_of(const EndFilter& filter) {
  if (filter.kind == EndFilter::Kind::Word) return filter.word;
  return (filter.kind == EndFilter::Kind::Exit ? "exit " : "signal ") + text_of(filter.numbers);
}

Result<AgainRule> again_from_text(std::string_view line) {
  AgainRule out;
  for (std::string_view left = line; !left.empty();) {
    const std::string_view clause = without_outer_spaces(cut_line_at(left, ';'));
    if (auto read = read_clause(clause, out); !read) return fail(read.error());
  }
  if (out.exit.empty()) {
    return bad_line("exit is missing; write the exit statuses that say \"not ready yet\", like 75");
  }
  return out;
}

std::string text_of(const AgainRule& again) {
  std::string out = "exit " + text_of(again.exit) + "; every " + format_duration(again.every);
  if (again.at_most > Millis{0}) out += "; at_most " + format_duration(again.at_most);
  return out;
}

bool is_meant(const std::vector<std::string>& lines, const Outcome& outcome) {
  return std::ranges::any_of(lines, [&](const std::string& line) {
    const auto filter = end_filter_from_text(line);
    return filter && is_meant(*filter, outcome);
  });
}

bool is_not_ready(const AgainRule& again, RunState state, std::int32_t exit_status) {
  return state == RunState::Failed && any_contains(again.exit, exit_status);
}

}  // namespace rota::model
