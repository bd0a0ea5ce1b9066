#include "client/job_file.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <utility>

#include "common/base/duration_text.h"
#include "common/base/utf8.h"
#include "common/config/yaml_reader.h"
#include "common/model/schedule_text.h"

namespace rota::client {
namespace {

using config::MapReader;
using config::Problems;
using config::YamlNode;

constexpr Millis kLongest{Millis{std::chrono::hours{24 * 366}}};
constexpr std::size_t kMostJobs = 100'000;
constexpr std::int64_t kLargestCap = std::int64_t{1} << 40;

struct Reading {
  const std::string& source;
  Problems& problems;
};

std::int64_t since_epoch(WallTime moment) { return to_ms(moment); }

/// What is about a schedule, and yet a key of the job.
void refuse_keys_of_the_job(const YamlNode& schedule, MapReader& map) {
  for (const char* key : {"time_zone", "start", "end", "late", "tick_grace", "overlap"}) {
    if (schedule.find(key) == nullptr) continue;
    (void)map.has(key);  // told here, so it is no unknown key as well
    map.refuse(key, fmt::format("is a key of the job: write `{}:` beside `schedule:`, not in it", key));
  }
}

/// `schedule:` is either one line, or a map with exactly one of cron, every, at.
void read_schedule(MapReader& job, const Reading& in, thrift::Rules& rules) {
  thrift::Schedule& schedule = rules.schedule;
  const YamlNode* node = job.node("schedule");
  if (node == nullptr) return;
  if (node->kind == YamlNode::Kind::Scalar) {
    auto parsed = schedule_from_line(node->text);
    if (!parsed) {
      job.refuse("schedule", parsed.error().message);
      return;
    }
    schedule = *parsed;
    return;
  }
  MapReader map(*node, in.source, job.path_of("schedule"), in.problems);
  // One that is there and wrong has its own problem, and is given all the same.
  const int kinds = int{map.has("cron")} + int{map.has("every")} + int{map.has("at")};
  if (auto line = map.text("cron")) {
    if (auto parsed = schedule_from_line(*line)) {
      schedule = *parsed;
    } else {
      map.refuse("cron", parsed.error().message);
    }
  }
  if (auto every = map.duration("every", Millis{100}, kLongest)) {
    schedule.kind = "fixed_rate";
    schedule.interval_ms = every->count();
  }
  if (auto at = map.moment("at")) {
    schedule.kind = "once";
    schedule.__set_start_ms(since_epoch(*at));
  }
  if (auto dialect = map.one_of("dialect", {"guess", "unix", "quartz"})) schedule.dialect = *dialect;
  if (auto gap = map.one_of("gap", {"run_at_end", "skip"})) schedule.gap = *gap;
  if (auto fold = map.one_of("fold", {"first", "second", "both"})) schedule.fold = *fold;
  refuse_keys_of_the_job(*node, map);
  map.refuse_unknown();
  if (kinds != 1) job.refuse("schedule", "give exactly one of cron, every and at");
}

void read_times(MapReader& job, thrift::Rules& rules) {
  if (auto zone = job.text("time_zone")) rules.schedule.time_zone = *zone;
  if (auto start = job.moment("start")) {
    if (rules.schedule.kind == "once") {
      job.refuse("start", "a job that runs once has its moment in schedule.at; remove start");
    }
    rules.schedule.__set_start_ms(since_epoch(*start));
  }
  if (auto end = job.moment("end")) rules.schedule.__set_end_ms(since_epoch(*end));
  if (auto late = job.one_of("late", {"fire_once", "skip"})) rules.late = *late;
  if (auto grace = job.duration("tick_grace", Millis{0}, kLongest)) {
    rules.tick_grace_ms = grace->count();
  }
}

/// `retry: 3`, or a map.
void read_retry(MapReader& job, const Reading& in, thrift::Rules& rules) {
  const YamlNode* node = job.node("retry");
  if (node == nullptr) return;
  if (node->kind == YamlNode::Kind::Scalar) {
    if (auto count = job.integer("retry", 0, 1000)) {
      rules.retry_rule.count = static_cast<std::int32_t>(*count);
    }
    return;
  }
  MapReader map(*node, in.source, job.path_of("retry"), in.problems);
  if (auto count = map.integer("count", 0, 1000)) {
    rules.retry_rule.count = static_cast<std::int32_t>(*count);
  }
  if (auto delay = map.duration("delay", Millis{0}, kLongest)) {
    rules.retry_rule.delay_ms = delay->count();
  }
  if (auto factor = map.number("factor", 1.0, 100.0)) rules.retry_rule.factor = *factor;
  if (auto most = map.duration("max_delay", Millis{0}, kLongest)) {
    rules.retry_rule.max_delay_ms = most->count();
  }
  map.refuse_unknown();
}

/// `loss: never`, or a map with `then` and `most`. On the wire `rerun` has its name of before.
void read_loss(MapReader& job, const Reading& in, thrift::Rules& rules) {
  const YamlNode* node = job.node("loss");
  if (node == nullptr) return;
  const auto read_then = [&rules](MapReader& map, const char* key, const YamlNode* word) {
    if (word != nullptr && word->text == "after_fence") return;  // the name of before: rerun, the default
    const auto then = map.one_of(key, {"rerun", "never", "confirm"});
    if (then && *then != "rerun") rules.loss = *then;
  };
  if (node->kind == YamlNode::Kind::Scalar) return read_then(job, "loss", node);
  MapReader map(*node, in.source, job.path_of("loss"), in.problems);
  read_then(map, "then", map.node("then"));
  if (auto most = map.integer("most", 1, 1000)) rules.loss_most = static_cast<std::int32_t>(*most);
  if (rules.loss == "never" && map.has("most")) {
    map.refuse("most", "after a loss no other attempt follows (then: never); remove it");
  }
  map.refuse_unknown();
}

/// `keep_logs: 30d`, or `forever`.
void read_keep(MapReader& job, const char* name, std::int64_t& keep_ms) {
  const YamlNode* node = job.node(name);
  if (node != nullptr && node->kind == YamlNode::Kind::Scalar && node->text == "forever") {
    keep_ms = -1;
    return;
  }
  if (auto keep = job.duration(name, Millis{60'000}, 10 * kLongest)) keep_ms = keep->count();
}

void read_rules(MapReader& job, const Reading& in, thrift::Rules& rules) {
  read_schedule(job, in, rules);
  read_times(job, rules);
  read_retry(job, in, rules);
  if (auto overlap = job.one_of("overlap", {"skip", "queue", "allow"})) rules.overlap = *overlap;
  if (auto limit = job.integer("queue_limit", 1, 100'000)) {
    rules.queue_limit = static_cast<std::int32_t>(*limit);
  }
  if (auto pool = job.text("pool")) rules.pool = *pool;
  if (auto route = job.one_of("route", {"round_robin", "least_loaded", "named"})) {
    rules.route = *route;
  }
  if (auto worker = job.text("worker")) {
    rules.worker = *worker;
    rules.route = "named";
  }
  if (rules.route == "named" && rules.worker.empty()) {
    job.refuse("route", "route named needs the id of a worker under `worker:`");
  }
  if (auto timeout = job.duration("timeout", Millis{0}, kLongest)) rules.timeout_ms = timeout->count();
  if (auto grace = job.duration("kill_grace", Millis{0}, std::chrono::hours{1})) {
    rules.kill_grace_ms = grace->count();
  }
  read_loss(job, in, rules);
  if (auto grace = job.duration("disconnect_grace", Millis{0}, std::chrono::hours{24 * 7})) {
    rules.disconnect_grace_ms = grace->count();
  }
  read_keep(job, "keep_logs", rules.keep_logs_ms);
  read_keep(job, "keep_runs", rules.keep_runs_ms);
}

/// `command:` is a list of words, or one text for a shell; `script:` a text for `interpreter:`.
void read_command(MapReader& job, thrift::Work& work) {
  if (auto handler = job.text("handler")) work.handler = *handler;
  const bool has_handler = job.has("handler") && work.handler != "command";
  const YamlNode* command = job.node("command");
  if (command != nullptr && command->kind == YamlNode::Kind::Scalar) {
    work.script = command->text;
    if (work.script.empty()) job.refuse("command", "it is empty; give what to run");
  } else if (command != nullptr) {
    if (auto argv = job.texts("command")) work.argv = *argv;
    const bool is_empty = command->kind != YamlNode::Kind::Map && command->items.empty();
    if (is_empty) job.refuse("command", "the list is empty; give the program first");
  }
  if (auto script = job.text("script")) {
    if (command != nullptr) job.refuse("script", "give either command or script, not both");
    work.script = *script;
  }
  if (auto interpreter = job.text("interpreter")) work.interpreter = *interpreter;
  if (!has_handler && command == nullptr && work.script.empty()) {
    job.require("command", "what to run: a list of words, or a line for /bin/sh");
  }
}

/// `cpus: 0.5`: cores, down to thousandths.
void read_cpus(MapReader& limits, thrift::Limits& into) {
  const auto cores = limits.number("cpus", 0.01, 1000);
  if (!cores) return;
  const double thousandths = std::round(*cores * 1000);
  if (std::abs(*cores * 1000 - thousandths) > 1e-6) {
    return limits.refuse("cpus", fmt::format("{} is finer than a thousandth of a core; write {}", *cores,
                                             thousandths / 1000));
  }
  into.milli_cpus = static_cast<std::int32_t>(thousandths);
}

void read_limits(MapReader& job, const Reading& in, thrift::Limits& limits) {
  const YamlNode* node = job.node("limits");
  if (node == nullptr) return;
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  MapReader map(*node, in.source, job.path_of("limits"), in.problems);
  if (auto size = map.size("memory", 1 << 20, kMost)) limits.memory_bytes = *size;
  if (auto size = map.size("address_space", 16 << 20, kMost)) limits.address_space_bytes = *size;
  if (auto count = map.integer("processes", 1, 1'000'000)) {
    limits.processes = static_cast<std::int32_t>(*count);
  }
  if (auto count = map.integer("open_files", 4, 1'000'000)) {
    limits.open_files = static_cast<std::int32_t>(*count);
  }
  if (auto time = map.duration("cpu", Millis{1000}, kLongest)) limits.cpu_ms = time->count();
  if (auto size = map.size("file_size", 1, kMost)) limits.file_size_bytes = *size;
  if (auto size = map.size("folder", 4096, kMost)) limits.folder_bytes = *size;
  if (auto size = map.size("core", 0, kMost)) limits.core_bytes = *size;
  read_cpus(map, limits);
  map.refuse_unknown();
}

/// `umask: 027`: octal, however it is quoted.
void read_umask(MapReader& job, thrift::Work& work) {
  const auto text = job.text("umask");
  if (!text) return;
  std::int32_t mask = 0;
  const bool is_octal = (text->size() == 3 || (text->size() == 4 && text->front() == '0')) &&
                        text->find_first_not_of("01234567") == std::string::npos;
  if (!is_octal) {
    job.refuse("umask", fmt::format("{} is no umask; write three octal digits, like 027",
                                    quoted_text(*text, 20)));
    return;
  }
  for (const char digit : *text) mask = mask * 8 + (digit - '0');
  work.umask = mask;
}

void read_isolation(MapReader& job, const Reading& in, thrift::Work& work) {
  read_limits(job, in, work.limits);
  read_umask(job, work);
  if (auto nice = job.integer("nice", -20, 19)) work.nice = static_cast<std::int32_t>(*nice);
  if (auto user = job.text("run_as")) work.run_as = *user;
  if (auto keep = job.one_of("keep_folder", {"never", "on_failure", "always"})) {
    work.keep_folder = *keep;
  }
  if (auto isolation = job.one_of("isolation", {"worker", "process"})) work.isolation = *isolation;
}

void read_work(MapReader& job, const Reading& in, thrift::Work& work) {
  read_command(job, work);
  if (auto environment = job.text_map("environment")) work.environment = *environment;
  if (auto parameters = job.text_map("parameters")) work.parameters = *parameters;
  if (auto folder = job.text("folder")) work.folder = *folder;
  if (auto cap = job.integer("output_cap_bytes", 1024, kLargestCap)) work.output_cap_bytes = *cap;
  read_isolation(job, in, work);
}

thrift::JobDefinition read_job(const YamlNode& node, const Reading& in, const std::string& path) {
  MapReader job(node, in.source, path, in.problems);
  thrift::JobDefinition definition;
  if (node.kind != YamlNode::Kind::Map && node.kind != YamlNode::Kind::Null) return definition;
  if (job.require("name", "the job's name, unique in its namespace")) {
    const auto name = job.text("name");
    if (name && name->empty()) job.refuse("name", "is empty; give the job's name, unique in its namespace");
    definition.name = name.value_or("");
  }
  if (auto space = job.text("namespace")) definition.space = *space;
  if (auto text = job.text("description")) definition.description = *text;
  if (auto owner = job.text("owner")) definition.owner = *owner;
  if (auto labels = job.text_map("labels")) definition.labels = *labels;
  read_rules(job, in, definition.rules);
  read_work(job, in, definition.work);
  job.refuse_unknown();
  return definition;
}

/// Two jobs of one name would be one job that changes twice.
class Namesakes {
 public:
  void note(const thrift::JobDefinition& job, std::size_t index, config::Mark place, const Reading& in) {
    if (job.name.empty()) return;
    const auto [first, is_new] = first_.emplace(std::pair{job.space, job.name}, std::pair{index, place.line});
    if (is_new) return;
    in.problems.add(in.source, place, fmt::format("jobs[{}].name", index),
                    fmt::format("{} is the name of jobs[{}] (line {}) too; give each job a name of its own",
                                quoted_text(job.name), first->second.first, first->second.second));
  }

 private:
  std::map<std::pair<std::string, std::string>, std::pair<std::size_t, int>> first_;
};

/// Once something is wrong no job is kept: the result is not used then.
void read_jobs(const YamlNode& list, const Reading& in, std::vector<thrift::JobDefinition>& jobs) {
  Namesakes names;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    thrift::JobDefinition job = read_job(list.items[i], in, fmt::format("jobs[{}]", i));
    names.note(job, i, list.items[i].mark, in);
    if (in.problems.empty()) jobs.push_back(std::move(job));
  }
  if (!in.problems.empty()) jobs = {};
}

}  // namespace

Result<thrift::Schedule> schedule_from_line(std::string_view line) {
  auto parsed = model::schedule_from_text(line);
  if (!parsed) return fail(parsed.error());
  thrift::Schedule schedule;
  schedule.kind = parsed->kind == model::ScheduleKind::FixedRate ? "fixed_rate"
                  : parsed->kind == model::ScheduleKind::Cron    ? "cron"
                                                                 : "none";
  schedule.cron = parsed->cron;
  schedule.interval_ms = parsed->interval.count();
  return schedule;
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
  const YamlNode* list = document->kind == YamlNode::Kind::Map ? document->find("jobs") : nullptr;
  if (list == nullptr) {
    file.jobs.push_back(read_job(*document, in, ""));
    return file;
  }
  MapReader top(*document, source, "", problems);
  top.has("jobs");  // asked for, so it is no unknown key
  if (list->kind != YamlNode::Kind::List && list->kind != YamlNode::Kind::Null) {
    top.refuse("jobs", "must be a list of jobs, each beginning with `- name:`");
    return file;
  }
  top.refuse_unknown();
  if (list->items.empty()) top.refuse("jobs", "the list is empty; a job begins with `- name:`");
  if (list->items.size() > kMostJobs) {
    top.refuse("jobs", fmt::format("{} jobs; at most {} go into one file", list->items.size(), kMostJobs));
    return file;
  }
  read_jobs(*list, in, file.jobs);
  return file;
}

}  // namespace rota::client
