#include "client/job_file.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "client/calendar_file.h"
#include "client/cleanup_reader.h"
#include "client/job_reader.h"
#include "client/schedule_reader.h"
#include "common/base/utf8.h"
#include "common/config/yaml_reader.h"
#include "common/model/job_fields.h"
#include "common/wire/field_rules.h"

namespace rota::client {
namespace {

using config::MapReader;
using config::Problems;
using config::YamlNode;

constexpr std::size_t kMostJobs = 100'000;

struct Reading {
  const std::string& source;
  Problems& problems;
};

/// What several keys say together.
void check_together(JobMaps& maps, thrift::Rules& rules) {
  MapReader& job = maps.top();
  if (rules.schedule.kind == "once" && job.has("start")) {
    job.refuse("start", "a job that runs once has its moment in schedule.at; remove start");
  }
  if (job.has("worker")) rules.route = "named";
  if (rules.route == "named" && rules.worker.empty()) {
    job.refuse("route", "route named needs the id of a worker under `worker:`");
  }
  MapReader* loss = maps.group("loss");
  if (rules.loss == "never" && loss != nullptr && loss->has("most")) {
    loss->refuse("most", "after a loss no other attempt follows (then: never); remove it");
  }
}

/// `command:` is a list of words, or one text for a shell; `script:` a text for `interpreter:`.
void read_command(MapReader& job, thrift::Work& work) {
  const bool has_handler = job.has("handler") && work.handler != "command";
  const YamlNode* command = job.node("command");
  const bool has_script = job.has("script");
  if (command != nullptr && has_script) job.refuse("script", "give either command or script, not both");
  if (command != nullptr && command->kind == YamlNode::Kind::Scalar) {
    work.script = command->text;
    if (work.script.empty()) job.refuse("command", "it is empty; give what to run");
  } else if (command != nullptr) {
    if (auto argv = job.texts("command")) work.argv = *argv;
    const bool is_empty = command->kind != YamlNode::Kind::Map && command->items.empty();
    if (is_empty) job.refuse("command", "the list is empty; give the program first");
  }
  if (!has_handler && command == nullptr && work.script.empty()) {
    job.require("command", "what to run: a list of words, or a line for /bin/sh");
  }
}

void read_name(MapReader& job, std::string& name) {
  if (!job.require("name", "the job's name, unique in its namespace")) return;
  const auto text = job.text("name");
  if (!text) return;
  if (text->empty()) job.refuse("name", "is empty; give the job's name, unique in its namespace");
  std::string problem = wire::text_problem(model::facts_of("name"), *text);
  if (!problem.empty()) job.refuse("name", std::move(problem));
  name = *text;
}

thrift::JobDefinition read_job(const YamlNode& node, const Reading& in, const std::string& path) {
  JobMaps maps(node, in.source, path, in.problems);
  thrift::JobDefinition definition;
  if (node.kind != YamlNode::Kind::Map && node.kind != YamlNode::Kind::Null) return definition;
  read_name(maps.top(), definition.name);
  read_fields(maps, definition);
  read_schedule(maps, in.source, in.problems, definition.rules.schedule);
  read_command(maps.top(), definition.work);
  check_cleanup(node, definition.work, in.source, maps.top().path_of("cleanup"), in.problems);
  check_together(maps, definition.rules);
  maps.refuse_unknown();
  return definition;
}

/// Two jobs of one name would be one job that changes twice; calendars likewise.
class Namesakes {
 public:
  explicit Namesakes(std::string_view what) : what_(what) {}

  void note(const auto& item, std::size_t index, config::Mark place, const Reading& in) {
    if (item.name.empty()) return;
    const std::pair name{item.space, item.name};
    const auto [first, is_new] = first_.emplace(name, std::pair{index, place.line});
    if (is_new) return;
    in.problems.add(in.source, place, fmt::format("{}s[{}].name", what_, index),
                    fmt::format("{} is the name of {}s[{}] (line {}) too; give each {} a name of its own",
                                quoted_text(item.name), what_, first->second.first, first->second.second,
                                what_));
  }

 private:
  std::string_view what_;
  std::map<std::pair<std::string, std::string>, std::pair<std::size_t, int>> first_;
};

/// Once something is wrong no job is kept: the result is not used then.
void read_jobs(const YamlNode& list, const Reading& in, std::vector<thrift::JobDefinition>& jobs) {
  Namesakes names("job");
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    thrift::JobDefinition job = read_job(list.items[i], in, fmt::format("jobs[{}]", i));
    names.note(job, i, list.items[i].mark, in);
    if (in.problems.empty()) jobs.push_back(std::move(job));
  }
  if (!in.problems.empty()) jobs = {};
}

/// The list under this key; nullptr when there is none, or it is wrong.
const YamlNode* list_under(const YamlNode& document, MapReader& top, std::string_view key,
                           std::string_view what) {
  const YamlNode* list = top.node(key);
  if (document.find(key) == nullptr) return nullptr;
  if (list != nullptr && list->kind != YamlNode::Kind::List) {
    top.refuse(key, fmt::format("must be a list of {}, each beginning with `- name:`", key));
    return nullptr;
  }
  if (list == nullptr || list->items.empty()) {
    top.refuse(key, fmt::format("the list is empty; a {} begins with `- name:`", what));
    return nullptr;
  }
  if (list->items.size() <= kMostJobs) return list;
  top.refuse(key, fmt::format("{} {}; at most {} go into one file", list->items.size(), key, kMostJobs));
  return nullptr;
}

void read_calendars(const YamlNode& list, const Reading& in, std::vector<thrift::Calendar>& calendars) {
  Namesakes names("calendar");
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const std::string path = fmt::format("calendars[{}]", i);
    calendars.push_back(read_calendar(list.items[i], in.source, path, in.problems));
    names.note(calendars.back(), i, list.items[i].mark, in);
  }
}

}  // namespace

Result<thrift::Schedule> schedule_from_line(std::string_view line, const std::string& time_zone) {
  model::ScheduleEntry defaults;
  if (!time_zone.empty()) defaults.time_zone = time_zone;
  const auto entry = entry_from_line(line, defaults);
  if (!entry) return fail(entry.error());
  return schedule_of({*entry});
}

JobFile read_job_file(const std::string& source, std::string_view text, Problems& problems) {
  JobFile file;
  const auto document = config::read_yaml(source, text, problems, kLargestJobFile);
  if (!document) return file;
  const Reading in{source, problems};
  if (document->kind == YamlNode::Kind::List) {
    problems.add(source, document->mark, "", "a list stands here; write `jobs:` above it");
    return file;
  }
  const bool is_map = document->kind == YamlNode::Kind::Map;
  if (!is_map || (document->find("jobs") == nullptr && document->find("calendars") == nullptr)) {
    file.jobs.push_back(read_job(*document, in, ""));
    return file;
  }
  MapReader top(*document, source, "", problems);
  const YamlNode* calendars = list_under(*document, top, "calendars", "calendar");
  const YamlNode* jobs = list_under(*document, top, "jobs", "job");
  top.refuse_unknown();
  if (calendars != nullptr) read_calendars(*calendars, in, file.calendars);
  if (jobs != nullptr) read_jobs(*jobs, in, file.jobs);
  return file;
}

}  // namespace rota::client
