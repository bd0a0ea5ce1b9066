#include "client/calendar_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/base/utf8.h"
#include "common/model/calendar.h"
#include "common/model/day_text.h"
#include "common/model/job_fields.h"
#include "common/wire/calendar_wire.h"
#include "common/wire/field_rules.h"
#include "common/wire/text_rules.h"

namespace rota::client {
namespace {

using config::MapReader;
using config::Problems;
using config::YamlNode;
using model::DayRange;

/// A JSON string is a valid YAML scalar, whatever it holds.
std::string yaml_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

template <typename Value>
void check(MapReader& map, std::string_view key, const Result<Value>& read) {
  if (!read) map.refuse(key, read.error().message);
}

void read_calendar_name(MapReader& map, std::string& name) {
  if (!map.require("name", "the calendar's name, unique in its namespace")) return;
  const auto text = map.text("name");
  if (!text) return;
  name = *text;
  if (wire::is_word(name) && name.size() <= model::kMaxCalendarName) return;
  map.refuse("name", fmt::format("{} is no name of a calendar; take 1 to {} letters, digits, '_', '-' or '.'",
                                 quoted_text(name), model::kMaxCalendarName));
}

/// Reads the days of a calendar's lists and hours; each that is wrong is told at its own place.
class DayReader {
 public:
  DayReader(const std::string& source, Problems& problems, std::string covers)
      : source_(source), problems_(problems), written_(std::move(covers)) {
    if (const auto range = model::day_range_from_text(written_)) covers_ = *range;
  }

  void read_list(MapReader& map, std::string_view key, std::vector<std::string>& into) {
    auto texts = map.texts(key);
    if (!texts) return;
    const YamlNode* node = map.node(key);
    for (std::size_t i = 0; i < texts->size(); ++i) {
      (void)read_days((*texts)[i], node->items[i].mark, fmt::format("{}[{}]", map.path_of(key), i));
    }
    into = std::move(*texts);
  }

  void read_hours(MapReader& map, std::map<std::string, std::string>& into) {
    auto hours = map.text_map("hours");
    if (!hours) return;
    std::map<model::Day, DayRange> seen;
    for (const YamlNode::Entry& each : map.node("hours")->entries) {
      const std::string path = fmt::format("{}.{}", map.path_of("hours"), each.key);
      if (const auto days = read_days(each.key, each.key_mark, path)) {
        note_twice(seen, *days, each.key_mark, path);
      }
      read_clocks(each.value.text, each.value.mark, path);
    }
    into = std::move(*hours);
  }

 private:
  std::optional<DayRange> read_days(const std::string& text, config::Mark place, const std::string& path) {
    const auto days = model::day_range_from_text(text);
    if (!days) {
      problems_.add(source_, place, path, days.error().message);
      return std::nullopt;
    }
    if (covers_ && (days->last < covers_->first || days->first > covers_->last)) {
      problems_.add(source_, place, path,
                    fmt::format("{} lies outside of covers: {}, so it says nothing; extend covers, or "
                                "remove it", text, written_));
    }
    return *days;
  }

  void note_twice(std::map<model::Day, DayRange>& seen, const DayRange& days, config::Mark place,
                  const std::string& path) {
    auto after = seen.upper_bound(days.last);
    if (after != seen.begin() && std::prev(after)->second.last >= days.first) {
      const model::Day twice = std::max(days.first, std::prev(after)->second.first);
      problems_.add(source_, place, path,
                    fmt::format("{} is given twice; keep one", model::day_to_text(twice)));
    }
    seen.emplace(days.first, days);
  }

  void read_clocks(const std::string& text, config::Mark place, const std::string& path) {
    const auto open = model::clock_range_from_text(text);
    if (!open) {
      problems_.add(source_, place, path, open.error().message);
    } else if (open->is_empty()) {
      problems_.add(source_, place, path,
                    fmt::format("{} runs over midnight; end it with 24:00 at the latest", quoted_text(text)));
    }
  }

  const std::string& source_;
  Problems& problems_;
  std::string written_;  ///< what the calendar covers; empty: all days
  std::optional<DayRange> covers_;
};

void read_covers(MapReader& map, thrift::Calendar& into) {
  if (auto covers = map.text("covers")) {
    const auto range = model::day_range_from_text(*covers);
    if (!range) {
      map.refuse("covers", range.error().message + ", or a range as \"2026-01-01..2026-12-31\"");
    }
    into.covers = std::move(*covers);
  }
  const auto beyond = map.one_of("beyond", {"days", "hold"});
  if (beyond) into.beyond = *beyond;
  if (beyond == "hold" && !map.has("covers")) {
    map.refuse("beyond", "hold needs `covers:`, the range of days of which the calendar knows");
  }
}

std::string lines_of(std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return "";
  std::string out = fmt::format("    {}:\n", key);
  for (const std::string& text : texts) out += fmt::format("      - {}\n", yaml_text(text));
  return out;
}

std::string line_of(std::string_view key, const std::string& text, std::string_view standard = "") {
  return text == standard ? "" : fmt::format("    {}: {}\n", key, yaml_text(text));
}

}  // namespace

thrift::Calendar read_calendar(const YamlNode& node, const std::string& source, const std::string& path,
                               Problems& problems) {
  MapReader map(node, source, path, problems);
  thrift::Calendar out;
  if (node.kind != YamlNode::Kind::Map && node.kind != YamlNode::Kind::Null) return out;
  read_calendar_name(map, out.name);
  if (auto space = map.text("namespace")) {
    if (auto problem = wire::text_problem(model::facts_of("namespace"), *space); !problem.empty()) {
      map.refuse("namespace", std::move(problem));
    }
    out.space = std::move(*space);
  }
  if (auto text = map.text("description")) {
    if (auto problem = wire::description_problem(*text); !problem.empty()) map.refuse("description", problem);
    out.description = std::move(*text);
  }
  if (auto text = map.text("time_zone")) out.time_zone = std::move(*text);
  if (auto days = map.text("days")) {
    check(map, "days", model::weekdays_from_text(*days));
    out.days = std::move(*days);
  }
  read_covers(map, out);
  DayReader days(source, problems, out.covers);
  days.read_list(map, "exclude", out.excluded);
  days.read_list(map, "include", out.included);
  days.read_hours(map, out.hours);
  map.refuse_unknown();
  return out;
}

std::string calendar_file_text(const thrift::Calendar& calendar) {
  std::string out = fmt::format("calendars:\n  - name: {}\n", yaml_text(calendar.name));
  out += line_of("namespace", calendar.space, "default");
  out += line_of("description", calendar.description);
  out += line_of("time_zone", calendar.time_zone, "UTC");
  out += line_of("days", calendar.days, "mon-sun");
  out += lines_of("exclude", calendar.excluded);
  out += lines_of("include", calendar.included);
  if (!calendar.hours.empty()) out += "    hours:\n";
  for (const auto& [days, times] : calendar.hours) {
    out += fmt::format("      {}: {}\n", yaml_text(days), yaml_text(times));
  }
  out += line_of("covers", calendar.covers);
  if (calendar.beyond != "days") out += fmt::format("    beyond: {}\n", calendar.beyond);
  return out;
}

}  // namespace rota::client
