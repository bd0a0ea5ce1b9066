#include "common/model/entry_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "common/base/duration_text.h"
#include "common/base/utf8.h"

namespace rota::model {
namespace {

std::string_view clause_of(std::string_view text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

tl::unexpected<Error> wrong_clause(std::string_view key, std::string_view why) {
  return fail(ErrorCode::InvalidArgument, fmt::format("{}: {}", key, why));
}

template <typename Value>
struct Word {
  std::string_view word;
  Value value;
};
constexpr Word<CronDialect> kDialects[] = {{"unix", CronDialect::Unix}, {"quartz", CronDialect::Quartz}};
constexpr Word<Otherwise> kOtherwise[] = {{"next", Otherwise::Next}, {"previous", Otherwise::Previous}};
constexpr Word<RepeatedTime> kRepeated[] = {{"second", RepeatedTime::Second}, {"both", RepeatedTime::Both}};

template <typename Value, std::size_t N>
bool read_word(std::string_view text, const Word<Value> (&words)[N], Value& into) {
  for (const auto& each : words) {
    if (each.word == text) into = each.value;
  }
  return into != Value{};
}

constexpr std::string_view kKinds[] = {"cron", "every", "at", "after_end", "working_day", "worker_start"};
constexpr const char* kOneKind = "give one of cron, every, at, after_end, working_day and worker_start";

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    out.emplace_back(clause_of(list.substr(at, end - at)));
    at = end + 1;
  }
  return out;
}

class EntryReader {
 public:
  Result<ScheduleEntry> read(std::string_view text) {
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find(';', at), text.size());
      const std::string_view clause = clause_of(text.substr(at, end - at));
      const std::size_t space = std::min(clause.find(' '), clause.size());
      if (auto read = read_clause(clause.substr(0, space), clause_of(clause.substr(space))); !read) {
        return fail(read.error());
      }
      at = end + 1;
    }
    if (!has_kind_) return wrong_clause("entry", kOneKind);
    return entry_;
  }

 private:
  Result<void> read_clause(std::string_view key, std::string_view value) {
    if (!seen_.insert(std::string(key)).second) return wrong_clause(key, "it is given twice");
    const bool is_alone = key == "worker_start";
    if (value.empty() && !is_alone) return wrong_clause(key.empty() ? "entry" : key, "there is nothing");
    if (std::ranges::find(kKinds, key) != std::end(kKinds)) return read_kind(key, value);
    if (key == "start" || key == "end") return read_moment(key, value);
    return read_rest(key, value);
  }

  Result<void> read_kind(std::string_view key, std::string_view value) {
    if (has_kind_) return wrong_clause(key, kOneKind);
    has_kind_ = true;
    if (key == "cron") {
      entry_.kind = EntryKind::Cron;
      entry_.cron = std::string(value);
    } else if (key == "every" || key == "after_end") {
      entry_.kind = key == "every" ? EntryKind::Every : EntryKind::AfterEnd;
      return read_duration(key, value, entry_.interval);
    } else if (key == "worker_start") {
      if (!value.empty()) return wrong_clause(key, "it stands alone");
      entry_.kind = EntryKind::WorkerStart;
    } else if (key == "at") {
      entry_.kind = EntryKind::At;
      return read_moment(key, value);
    } else {
      entry_.kind = EntryKind::WorkingDay;
      return read_number(key, value, entry_.working_day);
    }
    return {};
  }

  static Result<void> read_number(std::string_view key, std::string_view value, std::int32_t& into) {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), into);
    if (error != std::errc{} || end != value.data() + value.size())
      return wrong_clause(key, "it is no number");
    return {};
  }

  static Result<void> read_duration(std::string_view key, std::string_view value, Millis& into) {
    const auto duration = parse_duration(value);
    if (!duration) return wrong_clause(key, duration.error().message);
    into = *duration;
    return {};
  }

  Result<void> read_moment(std::string_view key, std::string_view value) {
    const auto moment = parse_moment(value);
    if (!moment) return wrong_clause(key, moment.error().message);
    if (key != "end" && entry_.start) return wrong_clause(key, "at and start do not go together");
    (key == "end" ? entry_.end : entry_.start) = *moment;
    return {};
  }

  Result<void> read_rest(std::string_view key, std::string_view value) {
    const std::string text(value);
    if (key == "name") {
      entry_.name = text;
    } else if (key == "time") {
      entry_.time = text;
    } else if (key == "between") {
      entry_.between = text;
    } else if (key == "time_zone") {
      entry_.time_zone = text;
    } else if (key == "calendars") {
      entry_.calendars = names_in(value);
    } else if (key == "day") {
      return read_number(key, value, entry_.day);
    } else if (key == "jitter") {
      return read_duration(key, value, entry_.jitter);
    } else {
      return read_word_of(key, value);
    }
    return {};
  }

  Result<void> read_word_of(std::string_view key, std::string_view value) {
    if (key == "otherwise") {
      if (!read_word(value, kOtherwise, entry_.otherwise))
        return wrong_clause(key, "allowed are next and previous");
    } else if (key == "dialect") {
      if (!read_word(value, kDialects, entry_.dialect))
        return wrong_clause(key, "allowed are unix and quartz");
    } else if (key == "repeated_time") {
      if (!read_word(value, kRepeated, entry_.repeated_time))
        return wrong_clause(key, "allowed are second and both");
    } else if (key == "skipped_time" && (value == "skip" || value == "quartz")) {
      entry_.is_as_quartz = value == "quartz";
      if (value == "skip") entry_.skipped_time = SkippedTime::Skip;
    } else if (key == "skipped_time") {
      return wrong_clause(key, "allowed are skip and quartz");
    } else {
      return wrong_clause(shown_text(key), "there is no such clause");
    }
    return {};
  }

  ScheduleEntry entry_;
  bool has_kind_ = false;
  std::set<std::string> seen_;
};

std::string kind_text(const ScheduleEntry& entry) {
  switch (entry.kind) {
    case EntryKind::Cron: return "cron " + entry.cron;
    case EntryKind::Every: return "every " + format_duration(entry.interval);
    case EntryKind::At: return "at " + format_moment(entry.start.value_or(WallTime{}));
    case EntryKind::WorkingDay: return fmt::format("working_day {}", entry.working_day);
    case EntryKind::AfterEnd: return "after_end " + format_duration(entry.interval);
    case EntryKind::WorkerStart: break;
  }
  return "worker_start";
}

}  // namespace

Result<ScheduleEntry> entry_from_text(std::string_view text) { return EntryReader().read(text); }

std::string entry_to_text(const ScheduleEntry& entry) {
  std::string out = kind_text(entry);
  const auto add = [&out](std::string_view key, std::string_view value) {
    if (!value.empty()) out += fmt::format("; {} {}", key, value);
  };
  add("time", entry.time);
  add("between", entry.between);
  if (entry.time_zone != "UTC") add("time_zone", entry.time_zone);
  add("calendars", fmt::format("{}", fmt::join(entry.calendars, ",")));
  for (const auto& each : kOtherwise) {
    if (entry.otherwise == each.value) add("otherwise", each.word);
  }
  if (entry.day != 0) add("day", std::to_string(entry.day));
  if (entry.jitter != Millis{0}) add("jitter", format_duration(entry.jitter));
  for (const auto& each : kDialects) {
    if (entry.dialect == each.value) add("dialect", each.word);
  }
  if (entry.is_as_quartz) add("skipped_time", "quartz");
  if (entry.skipped_time == SkippedTime::Skip) add("skipped_time", "skip");
  for (const auto& each : kRepeated) {
    if (entry.repeated_time == each.value) add("repeated_time", each.word);
  }
  if (entry.kind != EntryKind::At && entry.start) add("start", format_moment(*entry.start));
  if (entry.end) add("end", format_moment(*entry.end));
  add("name", entry.name);
  return out;
}

}  // namespace rota::model
