// The jobs of an apply: in calls of bounded size.
#include <fmt/format.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/transport/TBufferTransports.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <nlohmann/json.hpp>

#include "client/child_order.h"
#include "client/command/apply_plan.h"
#include "client/command/text_diff.h"
#include "client/job_file.h"
#include "common/base/utf8.h"
#include "common/model/entry_text.h"
#include "common/rpc/error_wire.h"

namespace rota::client {
namespace {

// One call takes 1,000 jobs and 4 MiB; these leave room.
constexpr std::size_t kMostInCall = 500;
constexpr std::size_t kMostBytesInCall = 2u << 20;
constexpr std::size_t kMostDifferences = 20;

using Edits = std::vector<thrift::JobEdit>;
using Answers = std::vector<thrift::JobEdited>;

std::size_t bytes_of(const thrift::JobEdit& edit) {
  const auto buffer = std::make_shared<apache::thrift::transport::TMemoryBuffer>();
  apache::thrift::protocol::TBinaryProtocol protocol(buffer);
  return edit.write(&protocol);
}

/// The index at which each call's edits end.
std::vector<std::size_t> ends_of_calls(const Edits& edits) {
  std::vector<std::size_t> ends;
  std::size_t count = 0, bytes = 0;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const std::size_t own = bytes_of(edits[i]);
    if (count > 0 && (count == kMostInCall || bytes + own > kMostBytesInCall)) {
      ends.push_back(i);
      count = bytes = 0;
    }
    ++count;
    bytes += own;
  }
  ends.push_back(edits.size());
  return ends;
}

/// Sends all edits, call by call. Stops at the first call that fails, and prints the answers so far.
Result<Answers> apply_in_calls(Desk& desk, const Edits& edits, bool dry_run) {
  Answers all;
  const auto ends = ends_of_calls(edits);
  for (const std::size_t end : ends) {
    const Edits some(edits.begin() + static_cast<std::ptrdiff_t>(all.size()),
                     edits.begin() + static_cast<std::ptrdiff_t>(end));
    auto answers = desk.cluster.apply_jobs(some, dry_run);
    if (!answers) {
      if (!dry_run && !all.empty()) {
        note(fmt::format("{} of {} jobs were applied; apply the file again: these will be unchanged then",
                         all.size(), edits.size()));
      }
      return answers;
    }
    std::ranges::move(*answers, std::back_inserter(all));
    if (ends.size() > 1) {
      note(fmt::format("{} {} of {} jobs", dry_run ? "checked" : "applied", all.size(), edits.size()));
    }
  }
  return all;
}

bool names(const thrift::JobDefinition& job, const thrift::Calendar& calendar) {
  return job.space == calendar.space &&
         std::ranges::any_of(job.rules.schedule.entries, [&](const std::string& line) {
           const auto entry = model::entry_from_text(line);
           return entry && std::ranges::find(entry->calendars, calendar.name) != entry->calendars.end();
         });
}

/// After refusals: says how much of the files was applied.
void tell_of_refused(const Answers& done) {
  const auto refused = std::ranges::count_if(done, [](const auto& each) { return each.__isset.error; });
  note(fmt::format("not applied: {} of {} jobs; apply the file again to see the plan as of now", refused,
                   done.size()));
}

}  // namespace

JobPlan::JobPlan(Desk& desk, std::vector<thrift::JobDefinition> jobs,
                 const std::vector<thrift::Calendar>& calendars, std::vector<Origin> origins)
    : desk_(desk) {
  ChildOrder children = child_order(jobs);
  circle_ = std::move(children.circle);
  if (!circle_.empty()) return;
  for (const std::size_t place : children.order) {
    thrift::JobDefinition& job = jobs[place];
    origins_.push_back(std::move(origins[place]));
    thrift::JobEdit& edit = edits_.emplace_back();
    for (const thrift::Calendar& calendar : calendars) {
      if (names(job, calendar)) edit.planned_calendars.push_back(calendar);
    }
    edit.definition = std::move(job);
  }
}

int JobPlan::complain_of_refusals(const Answers& answers) const {
  int status = kOk;
  for (std::size_t i = 0; i < edits_.size() && i < answers.size(); ++i) {
    if (!answers[i].__isset.error) continue;
    for (const std::string& line : job_refusal(edits_[i].definition.name, answers[i].error.message,
                                               answers[i].problems, origins_[i])) {
      note(line);
    }
    status = std::max(status, int{exit_status_of(rpc::code_of(answers[i].error.kind))});
  }
  return status;
}

/// The leader refuses names that it does not know; a plan says so before anything is applied.
int JobPlan::complain_of_children() const {
  if (!circle_.empty()) {
    return complain(Error(ErrorCode::InvalidArgument,
                          fmt::format("on_success, on_failure, on_end: {} goes in a circle; take one of "
                                      "these names away", circle_)));
  }
  std::set<std::pair<std::string, std::string>> known;
  for (const thrift::JobEdit& edit : edits_) known.emplace(edit.definition.space, edit.definition.name);
  int status = kOk;
  for (std::size_t i = 0; i < edits_.size(); ++i) {
    const thrift::JobDefinition& job = edits_[i].definition;
    for (const NamedChild& child : named_children(job)) {
      if (known.contains({job.space, child.name})) continue;
      const auto stands = desk_.cluster.get_job(job.space, child.name);
      if (stands || stands.error().code != ErrorCode::NotFound) {
        known.emplace(job.space, child.name);
        continue;
      }
      const std::string problem = fmt::format("{}: there is no job {} in namespace {}; apply it first, or in "
                                              "the same files", child.place, quoted_text(child.name),
                                              quoted_text(job.space));
      for (const std::string& line : job_refusal(job.name, problem, {problem}, origins_[i])) note(line);
      status = kUsage;
    }
  }
  return status;
}

int JobPlan::make() {
  if (const int status = complain_of_children(); status != kOk) return status;
  if (edits_.empty()) return kOk;
  auto plan = apply_in_calls(desk_, edits_, true);
  if (!plan) return complain(plan.error());
  plan_ = std::move(*plan);
  for (thrift::JobEdit& edit : edits_) edit.planned_calendars.clear();
  return complain_of_refusals(plan_);
}

bool JobPlan::changes() const {
  return std::ranges::any_of(plan_, [](const auto& each) { return each.what != "unchanged"; });
}

void JobPlan::show() const {
  Table table({"JOB", "PLAN", "SCHEDULE"});
  for (std::size_t i = 0; i < edits_.size() && i < plan_.size(); ++i) {
    table.add({edits_[i].definition.name, plan_[i].what, schedule_line(edits_[i].definition)});
  }
  std::fputs(table.text().c_str(), stderr);
}

void JobPlan::show_differences() const {
  std::size_t shown = 0, more = 0;
  for (std::size_t i = 0; i < edits_.size() && i < plan_.size(); ++i) {
    if (plan_[i].what != "changed") continue;
    if (shown == kMostDifferences) {
      ++more;
      continue;
    }
    const thrift::JobDefinition& job = edits_[i].definition;
    const auto stands = desk_.cluster.get_job(job.space, job.name);
    if (!stands) continue;
    ++shown;
    note(fmt::format("--- {} version {}\n+++ {} version {}", printable(job.name), stands->version,
                     printable(job.name), plan_[i].version));
    std::fputs(text_diff(job_file_text(stands->definition), job_file_text(job)).c_str(), stderr);
  }
  if (more > 0) note(fmt::format("... and the differences of {} more jobs", more));
}

void JobPlan::tell_of_past_moments() const {
  const std::int64_t now_ms = to_ms(SystemClock{}.wall());
  for (const thrift::JobEdit& edit : edits_) {
    const thrift::JobDefinition& job = edit.definition;
    const thrift::Schedule& schedule = job.rules.schedule;
    if (schedule.kind == "once" && schedule.start_ms < now_ms) {
      note(fmt::format("{}: {} is past: a job that is new or changed now will not fire", printable(job.name),
                       show_time(schedule.start_ms)));
    } else if (schedule.__isset.end_ms && schedule.end_ms < now_ms) {
      note(fmt::format("{}: its end, {}, is past: it never fires again", printable(job.name),
                       show_time(schedule.end_ms)));
    }
  }
}

void JobPlan::expect_versions() {
  for (std::size_t i = 0; i < edits_.size() && i < plan_.size(); ++i) {
    const std::string& what = plan_[i].what;
    const std::int32_t version = plan_[i].version;
    edits_[i].__set_expected_version(what == "created" ? 0 : what == "changed" ? version - 1 : version);
  }
}

/// A refused job does not affect the others.
int JobPlan::carry_out(nlohmann::json& rows) {
  if (edits_.empty()) return kOk;
  const auto done = apply_in_calls(desk_, edits_, false);
  if (!done) return complain(done.error());
  for (std::size_t i = 0; i < done->size(); ++i) {
    const thrift::JobEdited& each = (*done)[i];
    if (each.__isset.error) continue;
    const std::string& name = edits_[i].definition.name;
    if (desk_.prints_data()) {
      rows.push_back({{"name", name}, {"id", std::to_string(each.id)}, {"version", each.version},
                      {"what", each.what}});
    } else {
      print_text(fmt::format("{} {} (version {})\n", printable(name), each.what, each.version));
    }
  }
  const int status = complain_of_refusals(*done);
  if (status != kOk) tell_of_refused(*done);
  return status;
}

}  // namespace rota::client
