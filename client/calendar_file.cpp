#include "client/calendar_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "common/base/utf8.h"
#include "common/model/calendar.h"
#include "common/model/day_text.h"
#include "common/model/job_fields.h"
#include "common/wire/field_rules.h"
#include "common/wire/text_rules.h"

namespace rota::client {
namespace {

using config::MapReader;
using config::Problems;
using config::YamlNode;

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

void read_one_text(MapReader& map, std::string_view key, std::string& into) {
  if (auto text = map.text(key)) into = std::move(*text);
}

/// Each day or range that cannot be read is told at its own place.
struct DayList {
  const std::string& source;
  Problems& problems;

  void read(MapReader& map, std::string_view key, std::vector<std::string>& into) {
    auto texts = map.texts(key);
    if (!texts) return;
    const YamlNode* node = map.node(key);
    for (std::size_t i = 0; i < texts->size(); ++i) {
      const auto range = model::day_range_from_text((*texts)[i]);
      if (range) continue;
      problems.add(source, node->items[i].mark, fmt::format("{}[{}]", map.path_of(key), i),
                   range.error().message);
    }
    into = std::move(*texts);
  }
};

void read_hours(MapReader& map, std::map<std::string, std::string>& into) {
  auto hours = map.text_map("hours");
  if (!hours) return;
  for (const auto& [days, times] : *hours) {
    const auto range = model::day_range_from_text(days);
    if (!range) map.refuse("hours", range.error().message);
    const auto open = model::clock_range_from_text(times);
    if (!open) {
      map.refuse("hours", fmt::format("{}: {}", days, open.error().message));
    } else if (open->is_empty()) {
      map.refuse("hours", fmt::format("{}: {} runs over midnight; end it with 24:00 at the latest", days,
                                      quoted_text(times)));
    }
  }
  into = std::move(*hours);
}

void read_covers(MapReader& map, thrift::Calendar& into) {
  if (auto covers = map.text("covers")) {
    check(map, "covers", model::day_range_from_text(*covers));
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
  read_one_text(map, "description", out.description);
  read_one_text(map, "time_zone", out.time_zone);
  if (auto days = map.text("days")) {
    check(map, "days", model::weekdays_from_text(*days));
    out.days = std::move(*days);
  }
  DayList days{source, problems};
  days.read(map, "exclude", out.excluded);
  days.read(map, "include", out.included);
  read_hours(map, out.hours);
  read_covers(map, out);
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
