#include "client/schedule_reader.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "client/schedule_checks.h"
#include "common/base/duration_text.h"
#include "common/base/utf8.h"
#include "common/model/day_text.h"
#include "common/model/entry_rules.h"
#include "common/model/entry_text.h"
#include "common/model/job_fields.h"
#include "common/model/schedule_text.h"
#include "common/wire/field_rules.h"
#include "common/wire/job_names.h"

namespace rota::client {
namespace {

using config::MapReader;
using config::YamlNode;
using model::EntryKind;
using model::ScheduleEntry;

constexpr std::string_view kWorkerStart = "@worker_start";

/// What has another name now.
constexpr std::pair<const char*, const char*> kFormer[] = {{"gap", "skipped_time"},
                                                           {"fold", "repeated_time"}};

template <typename Enum>
void read_named(MapReader& map, std::string_view key, Enum& into) {
  const auto words = wire::all_names<Enum>();
  const auto word = map.one_of(key, std::vector<std::string_view>(words.begin(), words.end()));
  if (word) into = *wire::named<Enum>(*word);
}

void read_skipped_time(MapReader& map, ScheduleEntry& entry) {
  const auto word = map.one_of("skipped_time", {"run_at_end", "skip", "quartz"});
  if (!word) return;
  entry.is_as_quartz = *word == "quartz";
  if (*word == "skip") entry.skipped_time = model::SkippedTime::Skip;
}

/// A text that must be readable as what it stands for.
template <typename Read>
void read_checked(MapReader& map, std::string_view key, const Read& read, std::string& into) {
  auto text = map.text(key);
  if (!text) return;
  if (const auto value = read(*text); !value) map.refuse(key, value.error().message);
  into = std::move(*text);
}

void read_name(MapReader& map, ScheduleEntry& entry) {
  auto name = map.text("name");
  if (!name) return;
  std::string problem = wire::text_problem({.bytes = 64, .form = model::TextForm::Word}, *name);
  if (!problem.empty()) map.refuse("name", std::move(problem));
  entry.name = std::move(*name);
}

/// One calendar, a list of them, or a map of what is asked of them.
void read_names(MapReader& map, std::string_view key, ScheduleEntry& entry) {
  auto names = map.texts(key, true);
  if (!names) return;
  if (names->empty()) map.refuse(key, "the list is empty; name the calendars, or remove the key");
  for (auto name = names->begin(); name != names->end(); ++name) {
    std::string problem = wire::text_problem({.bytes = 64, .form = model::TextForm::Word}, *name);
    if (!problem.empty()) return map.refuse(key, std::move(problem));
    if (std::find(names->begin(), name, *name) == name) continue;
    return map.refuse(key, fmt::format("{} is named twice; remove one", quoted_text(*name)));
  }
  entry.calendars = std::move(*names);
}

void read_calendar(MapReader& map, const std::string& source, config::Problems& problems,
                   ScheduleEntry& entry) {
  const YamlNode* node = map.node("calendar");
  if (node == nullptr) return;
  if (node->kind != YamlNode::Kind::Map) return read_names(map, "calendar", entry);
  MapReader asked(*node, source, map.path_of("calendar"), problems);
  read_names(asked, "use", entry);
  (void)asked.require("use", "the names of the calendars");
  const auto word = asked.one_of("otherwise", {"skip", "next", "previous"});
  if (word == "next") entry.otherwise = model::Otherwise::Next;
  if (word == "previous") entry.otherwise = model::Otherwise::Previous;
  if (const auto day = asked.integer("day", -1, 1)) entry.day = static_cast<std::int32_t>(*day);
  asked.refuse_unknown();
}

constexpr const char* kOneKind = "give exactly one of cron, every, at, after_end and working_day";

/// False unless it has exactly one of the kinds.
bool read_kind(MapReader& map, ScheduleEntry& entry) {
  // One that is there and wrong has its own problem, and is given all the same.
  int kinds = 0;
  for (const char* key : {"cron", "every", "at", "after_end", "working_day"}) kinds += int{map.has(key)};
  if (const auto line = map.text("cron")) {
    auto read = entry_from_line(*line, entry);
    read ? void(entry = std::move(*read)) : map.refuse("cron", read.error().message);
  }
  if (const auto interval = map.duration("every", model::kLeastInterval, model::kMostInterval)) {
    entry.kind = EntryKind::Every;
    entry.interval = *interval;
  }
  if (const auto pause = map.duration("after_end", model::kLeastInterval, model::kMostInterval)) {
    entry.kind = EntryKind::AfterEnd;
    entry.interval = *pause;
  }
  if (const auto at = map.moment("at")) {
    entry.kind = EntryKind::At;
    entry.start = at;
  }
  if (const auto nth = map.integer("working_day", -model::kMostWorkingDays, model::kMostWorkingDays)) {
    entry.kind = EntryKind::WorkingDay;
    entry.working_day = static_cast<std::int32_t>(*nth);
  }
  return kinds == 1;
}

void read_entry_keys(MapReader& map, const std::string& source, config::Problems& problems,
                     ScheduleEntry& entry) {
  if (entry.kind == EntryKind::At && map.has("start")) {
    map.refuse("start", "it does not go with at; remove it");
  }
  read_checked(map, "time", model::clock_from_text, entry.time);
  read_checked(map, "between", model::clock_range_from_text, entry.between);
  read_named(map, "dialect", entry.dialect);
  read_skipped_time(map, entry);
  read_named(map, "repeated_time", entry.repeated_time);
  read_calendar(map, source, problems, entry);
  if (const auto jitter = map.duration("jitter", Millis{0}, model::kLongestJitter)) entry.jitter = *jitter;
  read_name(map, entry);
}

ScheduleEntry read_entry(const YamlNode& node, MapReader& map, const std::string& source,
                         config::Problems& problems, const ScheduleEntry& defaults) {
  const std::size_t before = problems.size();
  ScheduleEntry entry = defaults;
  for (const auto& [former, name] : kFormer) map.refuse_former(former, name);
  if (const auto start = map.moment("start")) entry.start = start;
  if (const auto end = map.moment("end")) entry.end = end;
  if (const auto zone = map.text("time_zone")) entry.time_zone = *zone;
  const bool has_one_kind = read_kind(map, entry);
  read_entry_keys(map, source, problems, entry);
  refuse_keys_of_the_job(node, map, "schedule");
  if (!has_one_kind) problems.add(source, node.mark, map.path(), kOneKind);
  if (problems.size() > before) return entry;
  refuse_idle_keys(map, entry);
  tell_broken_rules(model::problems_of_entry(entry), node, source, map.path(), problems);
  return entry;
}

/// Whether the schedule's own fields can say it.
bool is_simple(const ScheduleEntry& entry) {
  const bool is_known =
      entry.kind == EntryKind::Cron || entry.kind == EntryKind::Every || entry.kind == EntryKind::At;
  return is_known && entry.name.empty() && entry.time.empty() && entry.between.empty() &&
         entry.calendars.empty() && entry.jitter == Millis{0} && !entry.is_as_quartz &&
         !model::uses_hash(entry.cron);
}

thrift::Schedule simple_schedule(const ScheduleEntry& entry) {
  thrift::Schedule out;
  out.kind = entry.kind == EntryKind::Cron ? "cron" : entry.kind == EntryKind::Every ? "fixed_rate" : "once";
  out.cron = entry.cron;
  out.dialect = wire::name_of(entry.dialect);
  out.time_zone = entry.time_zone;
  out.gap = wire::name_of(entry.skipped_time);
  out.fold = wire::name_of(entry.repeated_time);
  out.interval_ms = entry.interval.count();
  if (entry.start) out.__set_start_ms(to_ms(*entry.start));
  if (entry.end) out.__set_end_ms(to_ms(*entry.end));
  return out;
}

ScheduleEntry defaults_of(const thrift::Schedule& schedule) {
  ScheduleEntry out;
  out.time_zone = schedule.time_zone;
  if (schedule.__isset.start_ms) out.start = wall_from_ms(schedule.start_ms);
  if (schedule.__isset.end_ms) out.end = wall_from_ms(schedule.end_ms);
  return out;
}

class ListReader {
 public:
  ListReader(JobMaps& maps, const std::string& source, config::Problems& problems,
             const ScheduleEntry& defaults)
      : maps_(maps), source_(source), problems_(problems), defaults_(defaults) {}

  std::vector<ScheduleEntry> read(const YamlNode& list) {
    std::vector<ScheduleEntry> out;
    if (list.items.empty())
      maps_.top().refuse("schedule", "the list is empty; leave it out for a job without one");
    if (list.items.size() > model::kMostEntries) {
      maps_.top().refuse("schedule", fmt::format("{} entries, at most {} are allowed", list.items.size(),
                                                 model::kMostEntries));
      return out;
    }
    for (std::size_t i = 0; i < list.items.size(); ++i) out.push_back(read_item(list.items[i], i));
    for (const model::EntryProblem& each : model::problems_among(out)) {
      tell_broken_rules({each}, list.items[each.entry], source_, path_of(each.entry), problems_);
    }
    return out;
  }

 private:
  std::string path_of(std::size_t i) const {
    return fmt::format("{}[{}]", maps_.top().path_of("schedule"), i);
  }

  ScheduleEntry read_item(const YamlNode& item, std::size_t i) {
    if (item.kind == YamlNode::Kind::Scalar) {
      auto entry = entry_from_line(item.text, defaults_);
      if (!entry) problems_.add(source_, item.mark, path_of(i), entry.error().message);
      return entry ? *entry : defaults_;
    }
    MapReader map(item, source_, path_of(i), problems_);
    if (item.kind == YamlNode::Kind::List) return defaults_;
    ScheduleEntry entry = read_entry(item, map, source_, problems_, defaults_);
    map.refuse_unknown();
    return entry;
  }

  JobMaps& maps_;
  const std::string& source_;
  config::Problems& problems_;
  const ScheduleEntry& defaults_;
};

std::string in_quotes(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

ScheduleEntry worker_start() {
  ScheduleEntry out;
  out.kind = EntryKind::WorkerStart;
  return out;
}

/// An entry as the map of a job file, in one line.
class EntryWriter {
 public:
  std::string map_of(const ScheduleEntry& entry) {
    add_text("name", entry.name);
    add_kind(entry);
    if (entry.kind != EntryKind::At) add_moment("start", entry.start);
    add_moment("end", entry.end);
    add_text("time", entry.time);
    add_text("between", entry.between);
    if (entry.time_zone != "UTC") add_text("time_zone", entry.time_zone);
    add("calendar", calendar_of(entry));
    if (entry.jitter != Millis{0}) add("jitter", format_duration(entry.jitter));
    if (entry.dialect != model::CronDialect::Guess) add("dialect", wire::name_of(entry.dialect));
    if (entry.is_as_quartz) add("skipped_time", "quartz");
    if (entry.skipped_time == model::SkippedTime::Skip) add("skipped_time", "skip");
    if (entry.repeated_time != model::RepeatedTime::First)
      add("repeated_time", wire::name_of(entry.repeated_time));
    return std::move(keys_);
  }

 private:
  void add(std::string_view key, std::string_view value) {
    if (!value.empty()) keys_ += fmt::format("{}{}: {}", keys_.empty() ? "" : ", ", key, value);
  }
  void add_text(std::string_view key, const std::string& text) {
    if (!text.empty()) add(key, in_quotes(text));
  }
  void add_moment(std::string_view key, const std::optional<WallTime>& moment) {
    if (moment) add(key, in_quotes(format_moment(*moment)));
  }

  void add_kind(const ScheduleEntry& entry) {
    switch (entry.kind) {
      case EntryKind::Cron: return add_text("cron", entry.cron);
      case EntryKind::Every: return add("every", format_duration(entry.interval));
      case EntryKind::AfterEnd: return add("after_end", format_duration(entry.interval));
      case EntryKind::At: return add_moment("at", entry.start);
      case EntryKind::WorkingDay: return add("working_day", std::to_string(entry.working_day));
      case EntryKind::WorkerStart: return add_text("cron", std::string(kWorkerStart));
    }
  }

  static std::string calendar_of(const ScheduleEntry& entry) {
    if (entry.calendars.empty()) return {};
    const std::string names = fmt::format("[{}]", fmt::join(entry.calendars, ", "));
    if (entry.otherwise == model::Otherwise::Skip && entry.day == 0) return names;
    std::string out = fmt::format("{{use: {}", names);
    if (entry.otherwise == model::Otherwise::Next) out += ", otherwise: next";
    if (entry.otherwise == model::Otherwise::Previous) out += ", otherwise: previous";
    if (entry.day != 0) out += fmt::format(", day: {}", entry.day);
    return out + "}";
  }

  std::string keys_;
};

}  // namespace

Result<ScheduleEntry> entry_from_line(std::string_view line, const ScheduleEntry& defaults) {
  ScheduleEntry entry = defaults;
  if (line == kWorkerStart) {
    entry.kind = EntryKind::WorkerStart;
    return entry;
  }
  auto parsed = model::schedule_from_text(line);
  if (!parsed) return fail(parsed.error());
  const auto length = parse_duration(line);
  if (length && *length > Millis{0}) {
    return fail(ErrorCode::InvalidArgument, fmt::format("'{0}' is a duration; write @every {0}", line));
  }
  entry.kind = parsed->kind == model::ScheduleKind::FixedRate ? EntryKind::Every : EntryKind::Cron;
  entry.cron = parsed->cron;
  entry.interval = parsed->interval;
  for (const model::EntryProblem& each : model::problems_of_entry(entry)) {
    if (each.key == "every") return fail(ErrorCode::InvalidArgument, "@every: " + each.what);
  }
  return entry;
}

thrift::Schedule schedule_of(const std::vector<ScheduleEntry>& entries) {
  if (entries.size() == 1 && is_simple(entries.front())) return simple_schedule(entries.front());
  thrift::Schedule out;
  out.kind = "entries";
  for (const ScheduleEntry& entry : entries) out.entries.push_back(model::entry_to_text(entry));
  return out;
}

void read_schedule(JobMaps& maps, const std::string& source, config::Problems& problems,
                   thrift::Schedule& schedule) {
  const YamlNode* node = maps.top().node("schedule");
  if (node == nullptr) return;
  const ScheduleEntry defaults = defaults_of(schedule);
  if (defaults.start && defaults.end && *defaults.end < *defaults.start) {
    return maps.top().refuse(
        "end", fmt::format("{} lies before start, {}; change one of them", format_moment(*defaults.end),
                           format_moment(*defaults.start)));
  }
  if (node->kind == YamlNode::Kind::List) {
    const auto entries = ListReader(maps, source, problems, defaults).read(*node);
    if (!entries.empty()) schedule = schedule_of(entries);
    return;
  }
  if (maps.is_short("schedule")) {
    const auto entry = entry_from_line(node->text, defaults);
    if (!entry) return maps.top().refuse("schedule", entry.error().message);
    schedule = schedule_of({*entry});
    return;
  }
  schedule = schedule_of({read_entry(*node, *maps.group("schedule"), source, problems, defaults)});
}

std::string entries_in_file(const std::vector<std::string>& entries) {
  std::string out;
  for (const std::string& line : entries) {
    const auto read = model::entry_from_text(line);
    if (!read) {  // of a newer master
      out += fmt::format("\n  # {}", line);
    } else if (*read == worker_start()) {
      out += fmt::format("\n  - \"{}\"", kWorkerStart);
    } else {
      out += fmt::format("\n  - {{{}}}", EntryWriter().map_of(*read));
    }
  }
  return out;
}

}  // namespace rota::client
