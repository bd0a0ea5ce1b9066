// One command for all saved jobs with some labels: `rota job pause|resume|run|delete -l team=fin`. The plan
// is shown first; then a person is asked.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "client/child_order.h"
#include "client/command/commands.h"

namespace rota::client {
namespace {

constexpr std::int32_t kJobsOfAPage = 1000;

struct Planned {
  thrift::JobInfo job;
  bool changes = true;                 ///< else it is so already
};

const char* word_of(BulkVerb verb) {
  switch (verb) {
    case BulkVerb::Pause: return "pause";
    case BulkVerb::Resume: return "resume";
    case BulkVerb::Run: return "run";
    case BulkVerb::Delete: return "delete";
  }
  return "";
}

bool would_change(BulkVerb verb, const std::string& state) {
  if (verb == BulkVerb::Pause) return state == "enabled";
  return verb != BulkVerb::Resume || state == "paused";
}

using Pairs = std::map<std::string, std::string>;

bool has_all(const Pairs& labels, const Pairs& asked) {
  return std::ranges::all_of(asked, [&](const auto& label) {
    const auto found = labels.find(label.first);
    return found != labels.end() && found->second == label.second;
  });
}

/// A job that another one names as its child is not deleted before that one.
std::vector<Planned> to_delete(const std::vector<Planned>& plan) {
  std::vector<thrift::JobDefinition> jobs;
  for (const Planned& each : plan) jobs.push_back(each.job.definition);
  std::vector<Planned> ordered;
  for (const std::size_t place : parents_first(jobs)) ordered.push_back(plan[place]);
  return ordered;
}

Result<std::vector<Planned>> planned(Desk& desk, const BulkArguments& arguments) {
  const auto labels = pairs_from(arguments.labels);
  if (!labels) return fail(labels.error());
  std::vector<Planned> plan;
  const auto read = desk.cluster.each_job(desk.space, "", kJobsOfAPage, [&](const thrift::JobInfo& job) {
    if (!has_all(job.definition.labels, *labels)) return true;
    plan.push_back({job, would_change(arguments.verb, job.state)});
    return true;
  });
  if (!read) return fail(read.error());
  const char* const none = "no job has these labels; rota job list -o json shows them";
  if (plan.empty()) return fail(ErrorCode::NotFound, none);
  return arguments.verb == BulkVerb::Delete ? to_delete(plan) : plan;
}

void show_plan(Desk& desk, BulkVerb verb, const std::vector<Planned>& plan) {
  nlohmann::json rows = nlohmann::json::array();
  Table table({"JOB", "VERSION", "STATE", "PLAN"});
  for (const Planned& each : plan) {
    const thrift::JobInfo& job = each.job;
    rows.push_back({{"name", job.definition.name}, {"version", job.version}, {"state", job.state},
                    {"plan", each.changes ? word_of(verb) : "unchanged"}});
    table.add({job.definition.name, std::to_string(job.version), job.state,
               each.changes ? word_of(verb) : "is so already"});
  }
  if (desk.prints_data()) {
    print_data(desk.format, rows);
  } else {
    print_text(table.text());
  }
}

nlohmann::json row_of(const std::string& name, const Result<thrift::JobEdited>& done) {
  if (!done) return {{"name", name}, {"error", done.error().message}};
  return {{"name", name}, {"version", done->version}, {"what", done->what}};
}

nlohmann::json row_of(const std::string& name, const Result<thrift::SubmitResult>& done) {
  if (!done) return {{"name", name}, {"error", done.error().message}};
  return {{"name", name}, {"run", std::to_string(done->run)}};
}

/// One of them; what was done, or why not, goes to `rows`. An exit status.
int carry_out(Desk& desk, const BulkArguments& arguments, const Pairs& parameters, const std::string& name,
              nlohmann::json& rows) {
  const auto note_done = [&](const auto& done) {
    rows.push_back(row_of(name, done));
    if (!done) note(fmt::format("rota: job {}: {}", printable(name), done.error().message));
    return done ? static_cast<int>(kOk) : static_cast<int>(exit_status_of(done.error().code));
  };
  switch (arguments.verb) {
    case BulkVerb::Pause:
    case BulkVerb::Resume:
      return note_done(
          desk.cluster.set_paused(desk.space, name, arguments.verb == BulkVerb::Pause, arguments.why));
    case BulkVerb::Delete: return note_done(desk.cluster.delete_job(desk.space, name, arguments.why));
    case BulkVerb::Run: break;
  }
  return note_done(desk.cluster.run_now(desk.space, name, parameters, ""));
}

}  // namespace

int bulk(Desk& desk, const BulkArguments& arguments) {
  const auto parameters = pairs_from(arguments.parameters);
  if (!parameters) return complain(parameters.error());
  const auto plan = planned(desk, arguments);
  if (!plan) return complain(plan.error());
  const auto count = static_cast<std::size_t>(std::ranges::count(*plan, true, &Planned::changes));
  if (arguments.dry_run || !arguments.yes) {
    if (arguments.dry_run || !desk.prints_data()) show_plan(desk, arguments.verb, *plan);
    if (arguments.dry_run) return count > 0 ? kWouldChange : kOk;
    const std::string question =
        fmt::format("{} {} of these {} jobs?", word_of(arguments.verb), count, plan->size());
    if (count > 0 && !confirmed(desk, question)) {
      note("nothing was changed; answer y, or add --yes to do it without being asked");
      return kUsage;
    }
  }
  nlohmann::json rows = nlohmann::json::array();
  int status = kOk;
  for (const Planned& each : *plan) {
    if (!each.changes) continue;
    const int done = carry_out(desk, arguments, *parameters, each.job.definition.name, rows);
    if (status == kOk) status = done;
  }
  if (desk.prints_data()) {
    print_data(desk.format, rows);
    return status;
  }
  for (const auto& row : rows) {
    if (!row.contains("run")) continue;
    const auto run = row["run"].get<std::string>();
    print_text(fmt::format("{} {}\n", run, printable(row["name"].get<std::string>())));
  }
  const auto failed = std::ranges::count_if(rows, [](const auto& row) { return row.contains("error"); });
  note(fmt::format("{}: {} done, {} failed, {} so already", word_of(arguments.verb),
                   static_cast<std::int64_t>(rows.size()) - failed, failed, plan->size() - count));
  return status;
}

}  // namespace rota::client
