// Bad input for each key about time: files as a person writes them, and all that they are refused with. The tables stand
// beside this file; schedules.txt says how they are read.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "client/file_places.h"
#include "client/job_file.h"
#include "client/job_schema.h"
#include "common/base/duration_text.h"
#include "common/config/load.h"
#include "common/wire/calendar_wire.h"
#include "master/api/calendar_intake.h"
#include "master/api/definition_intake.h"
#include "test/unit/config/temporary_folder.h"

namespace rota {
namespace {

using master::core::CalendarHistory;
using master::core::CalendarHistoryPtr;

struct Case {
  std::string key, file, told;
  int line = 0;
};

/// Without its first two characters.
void add_line(std::string& into, const std::string& line) { into += line.substr(2) + "\n"; }

std::vector<Case> read_table(const std::string& name) {
  std::ifstream in(std::string(ROTA_TABLES "/") + name);
  std::vector<Case> out;
  std::string key;
  bool begins = true;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with("[")) key = line.substr(1, line.size() - 2);
    const bool is_text = line.starts_with("  ");
    if (is_text && begins) out.push_back({key, "", "", number});
    if (is_text) add_line(out.back().file, line);
    if (line.starts_with("= ")) add_line(out.back().told, line);
    begins = !is_text && !line.starts_with("= ");
  }
  return out;
}

/// The calendars that the jobs of the tables may name: closed at weekends and at Christmas, and one whose days are over.
CalendarHistoryPtr calendar(std::string_view name) {
  static const std::map<std::string, CalendarHistoryPtr, std::less<>> all = [] {
    std::map<std::string, CalendarHistoryPtr, std::less<>> made;
    for (const char* each : {"germany", "over"}) {
      model::Calendar rules;
      rules.name = each;
      rules.days = "mon-fri";
      rules.exclude = {"1970-12-25", "2026-12-25..2026-12-26"};
      if (rules.name == "over") rules.covers = "2025-01-01..2025-12-31";
      if (rules.name == "over") rules.beyond = model::BeyondCover::Hold;
      auto compiled = master::api::compile("default", rules);
      REQUIRE_MESSAGE(compiled, compiled.error().message);
      made[each] = std::make_shared<const CalendarHistory>(CalendarHistory{{WallTime{}, std::move(*compiled)}});
    }
    return made;
  }();
  static const CalendarHistoryPtr none;
  const auto found = all.find(name);
  return found == all.end() ? none : found->second;
}

/// All that `rota apply` prints: of the file, or, when that can be read, of the master.
std::string refusal_of(const std::string& text) {
  config::Problems problems;
  const client::JobFile file = client::read_job_file("job.yaml", text, problems);
  if (!problems.empty()) return problems.text();
  const auto places = std::make_shared<client::FilePlaces>("job.yaml", text);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < file.calendars.size(); ++i) {
    std::vector<std::string> told;
    thrift::CalendarEdit edit;
    edit.calendar = file.calendars[i];
    const auto event = master::api::accept_calendar(edit, "me", &told);
    if (event) continue;
    std::ranges::move(client::calendar_refusal(edit.calendar.name, event.error().message, told, {places, i}),
                      std::back_inserter(lines));
  }
  for (std::size_t i = 0; i < file.jobs.size(); ++i) {
    std::vector<std::string> told;
    thrift::JobEdit edit;
    edit.definition = file.jobs[i];
    const auto now = parse_moment("2026-11-23T10:00:00Z");
    const auto event = master::api::accept_edit(edit, "me", &calendar, *now, &told);
    if (event) continue;
    std::ranges::move(client::job_refusal(edit.definition.name, event.error().message, told, {places, i}),
                      std::back_inserter(lines));
  }
  return lines.empty() ? "" : fmt::format("{}\n", fmt::join(lines, "\n"));
}

std::string refusal_of_job(const std::string& text) {
  return refusal_of(text.starts_with("jobs:") ? text : "name: a\ncommand: [x]\n" + text);
}

std::string refusal_of_calendar(std::string text) {
  if (text.starts_with("calendars:")) return refusal_of(text);
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) text.insert(at, "    ");
  return refusal_of("calendars:\n  - name: de\n" + text);
}

std::string refusal_of_master(const std::string& text) {
  const config::TemporaryFolder folder;
  const std::string path = folder.file("master.yaml", text);
  const auto options = config::load_master(path, {});
  if (options) return "";
  std::string told = options.error().text();
  for (auto at = told.find(path); at != std::string::npos; at = told.find(path)) {
    told.replace(at, path.size(), "master.yaml");
  }
  return told;
}

template <typename Refusal>
std::set<std::string> check_table(const std::string& name, const Refusal& refusal) {
  const auto cases = read_table(name);
  std::set<std::string> keys;
  for (const Case& each : cases) {
    INFO(name, ":", each.line, ":\n", each.file);
    CHECK(refusal(each.file) == each.told);
    CHECK(each.told != "");
    keys.insert(each.key);
  }
  MESSAGE(name, ": ", cases.size(), " cases of ", keys.size(), " keys");
  return keys;
}

/// Of the definitions of the schema that editors use; "schedule" has the keys of a map below it.
nlohmann::json properties_of(const char* what) {
  return nlohmann::json::parse(client::job_schema_text())["definitions"][what]["properties"];
}

nlohmann::json map_in(const nlohmann::json& property) { return property["anyOf"].back()["properties"]; }

void check_all_there(const std::set<std::string>& keys, const std::string& before, const nlohmann::json& properties) {
  for (const auto& property : properties.items()) {
    const std::string key = before + property.key();
    CHECK_MESSAGE(keys.contains(key), key);
  }
}

}  // namespace

TEST_CASE("bad input: each key of a schedule is refused with place, value and remedy") {
  const auto keys = check_table("schedules.txt", refusal_of_job);
  const auto entry = map_in(properties_of("job")["schedule"]);
  check_all_there(keys, "schedule.", entry);
  check_all_there(keys, "schedule.calendar.", map_in(entry["calendar"]));
}

TEST_CASE("bad input: each key of a job about time and workers is refused with place, value and remedy") {
  const auto keys = check_table("jobs.txt", refusal_of_job);
  for (const char* key : {"time_zone", "start", "end", "late", "tick_grace", "overlap", "concurrency", "queue_limit",
                          "firings", "until", "pause_after_failures", "route", "route_key", "select", "prefer", "timeout",
                          "retry", "on_success", "on_failure", "on_end"}) {
    CHECK_MESSAGE(properties_of("job").contains(key), key);
    CHECK_MESSAGE(keys.contains(key), key);
  }
  check_all_there(keys, "retry.", map_in(properties_of("job")["retry"]));
  check_all_there(keys, "timeout.", map_in(properties_of("job")["timeout"]));
  check_all_there(keys, "prefer.", properties_of("job")["prefer"]["properties"]);
}

TEST_CASE("bad input: each key of a calendar is refused with place, value and remedy") {
  const auto keys = check_table("calendars.txt", refusal_of_calendar);
  check_all_there(keys, "", properties_of("calendar"));
}

TEST_CASE("bad input: the pace of late ticks is refused with place, value and remedy") {
  check_table("masters.txt", refusal_of_master);
}

}  // namespace rota
