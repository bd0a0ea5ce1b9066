#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/show_json.h"
#include "client/job_file.h"
#include "common/base/file.h"

namespace rota::client {
namespace {

constexpr std::size_t kLargestFile = 4u << 20;

Result<std::string> read_input(const std::string& file) {
  if (file != "-") return read_file(file, kLargestFile);
  std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  if (text.size() > kLargestFile) {
    return fail(ErrorCode::InvalidArgument, "standard input is longer than 4 MiB");
  }
  return text;
}

std::string schedule_line(const thrift::JobDefinition& definition) {
  const thrift::Schedule& schedule = definition.rules.schedule;
  if (schedule.kind == "cron") return schedule.cron + " " + schedule.time_zone;
  if (schedule.kind == "fixed_rate") {
    return "every " + show_duration(1, 1 + schedule.interval_ms);
  }
  if (schedule.kind == "once") return "once " + show_time(schedule.start_ms);
  return "-";
}

/// What applying would do, a line a job. False when nothing would change.
bool show_plan(const std::vector<thrift::JobDefinition>& jobs,
               const std::vector<thrift::JobEdited>& plan) {
  Table table({"JOB", "PLAN", "SCHEDULE"});
  bool changes = false;
  for (std::size_t i = 0; i < jobs.size() && i < plan.size(); ++i) {
    changes = changes || plan[i].what != "unchanged";
    table.add({jobs[i].name, plan[i].what, schedule_line(jobs[i])});
  }
  std::fputs(table.text().c_str(), stderr);
  return changes;
}

int complain_of_refusals(const std::vector<thrift::JobDefinition>& jobs,
                         const std::vector<thrift::JobEdited>& answers) {
  int status = kOk;
  for (std::size_t i = 0; i < jobs.size() && i < answers.size(); ++i) {
    if (!answers[i].__isset.error) continue;
    note(fmt::format("rota: job {}: {}", printable(jobs[i].name), answers[i].error.message));
    const int one = answers[i].error.kind == thrift::ErrorKind::CONFLICT ? kConflict : kUsage;
    status = std::max(status, one);
  }
  return status;
}

}  // namespace

bool confirmed(const char* question) {
  if (!::isatty(STDIN_FILENO)) return false;
  std::fprintf(stderr, "%s [y/N] ", question);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

int job_apply(Desk& desk, const ApplyArguments& arguments) {
  auto text = read_input(arguments.file);
  if (!text) return complain(Error(ErrorCode::InvalidArgument, text.error().message));
  config::Problems problems;
  const std::string source = arguments.file == "-" ? "<stdin>" : arguments.file;
  JobFile file = read_job_file(source, *text, problems);
  if (!problems.empty()) {
    std::fputs(problems.text().c_str(), stderr);
    return kUsage;
  }
  std::vector<thrift::JobEdit> edits;
  for (thrift::JobDefinition& job : file.jobs) {
    if (job.space == "default") job.space = desk.space;
    edits.emplace_back().definition = job;
  }
  auto plan = desk.cluster.apply_jobs(edits, true);
  if (!plan) return complain(plan.error());
  if (const int status = complain_of_refusals(file.jobs, *plan); status != kOk) return status;
  const bool changes = show_plan(file.jobs, *plan);
  if (changes && !arguments.yes && !confirmed("Apply?")) {
    note("nothing was changed; add --yes to apply");
    return kUsage;
  }
  auto done = desk.cluster.apply_jobs(edits, false);
  if (!done) return complain(done.error());
  if (const int status = complain_of_refusals(file.jobs, *done); status != kOk) return status;
  if (desk.format == Format::Json) {
    nlohmann::json rows = nlohmann::json::array();
    for (std::size_t i = 0; i < done->size(); ++i) {
      rows.push_back({{"name", file.jobs[i].name}, {"id", std::to_string((*done)[i].id)},
                      {"version", (*done)[i].version}, {"what", (*done)[i].what}});
    }
    print_json(rows);
    return kOk;
  }
  for (std::size_t i = 0; i < done->size(); ++i) {
    print_text(fmt::format("{} {} (version {})\n", printable(file.jobs[i].name), (*done)[i].what,
                           (*done)[i].version));
  }
  return kOk;
}

int job_list(Desk& desk, const std::string& prefix, int limit) {
  auto jobs = desk.cluster.list_jobs(desk.space, prefix, limit);
  if (!jobs) return complain(jobs.error());
  if (desk.format == Format::Json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const auto& job : *jobs) rows.push_back(to_json(job));
    print_json(rows);
    return kOk;
  }
  Table table({"JOB", "STATE", "VERSION", "SCHEDULE", "NEXT", "POOL"});
  for (const auto& job : *jobs) {
    table.add({job.definition.name, job.state, std::to_string(job.version),
               schedule_line(job.definition), show_time(job.__isset.next_ms ? job.next_ms : 0),
               job.definition.rules.pool});
  }
  print_text(table.text());
  return kOk;
}

int job_show(Desk& desk, const std::string& name) {
  auto job = desk.cluster.get_job(desk.space, name);
  if (!job) return complain(job.error());
  if (desk.format == Format::Json) {
    print_json(to_json(*job));
    return kOk;
  }
  note(fmt::format("# version {}, {}{}{}, next {}", job->version, job->state,
                   job->state_by.empty() ? "" : " by " + printable(job->state_by),
                   job->state_why.empty() ? "" : ": " + printable(job->state_why),
                   show_time(job->__isset.next_ms ? job->next_ms : 0)));
  print_text(job_file_text(job->definition));
  return kOk;
}

namespace {

int tell_edit(Desk& desk, const std::string& name, const Result<thrift::JobEdited>& edited) {
  if (!edited) return complain(edited.error());
  if (desk.format == Format::Json) {
    print_json({{"name", name}, {"version", edited->version}, {"what", edited->what}});
  } else {
    print_text(fmt::format("{} {} (version {})\n", printable(name), edited->what, edited->version));
  }
  return kOk;
}

}  // namespace

int job_pause(Desk& desk, const std::string& name, bool paused, const std::string& why) {
  return tell_edit(desk, name, desk.cluster.set_paused(desk.space, name, paused, why));
}

int job_delete(Desk& desk, const std::string& name, const std::string& why) {
  return tell_edit(desk, name, desk.cluster.delete_job(desk.space, name, why));
}

int job_run(Desk& desk, const RunNowArguments& arguments) {
  auto parameters = pairs_from(arguments.parameters);
  if (!parameters) return complain(parameters.error());
  auto result = desk.cluster.run_now(desk.space, arguments.name, *parameters, arguments.key);
  if (!result) return complain(result.error());
  if (arguments.wait || arguments.follow) {
    note(fmt::format("run {}", result->run));
    return await_run(desk, result->run, arguments.follow, Millis{0});
  }
  if (desk.format == Format::Json) {
    print_json({{"id", std::to_string(result->run)}, {"repeated", result->repeated}});
  } else {
    print_text(fmt::format("{}\n", result->run));
  }
  return kOk;
}

int job_next(Desk& desk, const std::string& name, const std::string& line,
             const std::string& time_zone, int count) {
  thrift::Schedule schedule;
  if (!line.empty()) {
    auto parsed = schedule_from_line(line);
    if (!parsed) return complain(parsed.error());
    schedule = *parsed;
    if (!time_zone.empty()) schedule.time_zone = time_zone;
  } else {
    auto job = desk.cluster.get_job(desk.space, name);
    if (!job) return complain(job.error());
    schedule = job->definition.rules.schedule;
    // A fixed rate without a start is anchored at the job's creation.
    if (schedule.kind == "fixed_rate" && !schedule.__isset.start_ms) {
      schedule.__set_start_ms(job->created_ms);
    }
  }
  auto fires = desk.cluster.next_fires(schedule, SystemClock{}.wall(), count);
  if (!fires) return complain(fires.error());
  if (desk.format == Format::Json) {
    print_json({{"at_ms", *fires}});
    return kOk;
  }
  for (std::int64_t at : *fires) print_text(show_time(at) + "\n");
  return kOk;
}

}  // namespace rota::client
