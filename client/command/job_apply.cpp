// `rota job apply`: reads a file, shows what it would change, asks, and applies it in calls of bounded size.
#include <fmt/format.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/transport/TBufferTransports.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/text_diff.h"
#include "client/job_file.h"
#include "common/base/file.h"
#include "common/rpc/error_wire.h"

namespace rota::client {
namespace {

// One call takes 1,000 jobs and 4 MiB; these leave room.
constexpr std::size_t kMostInCall = 500;
constexpr std::size_t kMostBytesInCall = 2u << 20;
constexpr std::size_t kMostDifferences = 20;

using Edits = std::vector<thrift::JobEdit>;
using Answers = std::vector<thrift::JobEdited>;

Result<std::string> read_input(const std::string& file) {
  if (file != "-") return read_file(file, kLargestJobFile);
  std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  if (text.size() > kLargestJobFile) {
    return fail(ErrorCode::InvalidArgument, "standard input is longer than 64 MiB");
  }
  return text;
}

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

/// Expects the version that the plan was made from, so that an edit in between is not overwritten.
void expect_versions(Edits& edits, const Answers& plan) {
  for (std::size_t i = 0; i < edits.size() && i < plan.size(); ++i) {
    const std::string& what = plan[i].what;
    const std::int32_t version = plan[i].version;
    edits[i].__set_expected_version(what == "created" ? 0 : what == "changed" ? version - 1 : version);
  }
}

/// Prints what applying would do, one line a job. False when nothing would change.
bool show_plan(const Edits& edits, const Answers& plan) {
  Table table({"JOB", "PLAN", "SCHEDULE"});
  bool changes = false;
  for (std::size_t i = 0; i < edits.size() && i < plan.size(); ++i) {
    changes = changes || plan[i].what != "unchanged";
    table.add({edits[i].definition.name, plan[i].what, schedule_line(edits[i].definition)});
  }
  std::fputs(table.text().c_str(), stderr);
  return changes;
}

/// For a person who will be asked next: prints the difference between the stored job and the new one.
void show_differences(Desk& desk, const Edits& edits, const Answers& plan) {
  std::size_t shown = 0, more = 0;
  for (std::size_t i = 0; i < edits.size() && i < plan.size(); ++i) {
    if (plan[i].what != "changed") continue;
    if (shown == kMostDifferences) {
      ++more;
      continue;
    }
    const thrift::JobDefinition& job = edits[i].definition;
    const auto stands = desk.cluster.get_job(job.space, job.name);
    if (!stands) continue;
    ++shown;
    note(fmt::format("--- {} version {}\n+++ {} version {}", printable(job.name), stands->version,
                     printable(job.name), plan[i].version));
    std::fputs(text_diff(job_file_text(stands->definition), job_file_text(job)).c_str(), stderr);
  }
  if (more > 0) note(fmt::format("... and the differences of {} more jobs", more));
}

/// Warns about jobs that will be stored as requested but will never fire.
void tell_of_past_moments(const Edits& edits) {
  const std::int64_t now_ms = to_ms(SystemClock{}.wall());
  for (const thrift::JobEdit& edit : edits) {
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

int complain_of_refusals(const Edits& edits, const Answers& answers) {
  int status = kOk;
  for (std::size_t i = 0; i < edits.size() && i < answers.size(); ++i) {
    if (!answers[i].__isset.error) continue;
    note(fmt::format("rota: job {}: {}", printable(edits[i].definition.name), answers[i].error.message));
    status = std::max(status, int{exit_status_of(rpc::code_of(answers[i].error.kind))});
  }
  return status;
}

/// Whether a person saw the plan and said yes, or need not be asked.
bool agreed(Desk& desk, Edits& edits, const Answers& plan, bool yes) {
  const bool changes = show_plan(edits, plan);
  if (changes && !yes) show_differences(desk, edits, plan);
  tell_of_past_moments(edits);
  if (!changes || yes) return true;
  expect_versions(edits, plan);
  if (confirmed("Apply?")) return true;
  note("nothing was changed; answer y, or add --yes to apply without being asked");
  return false;
}

/// Counts the jobs that were applied: a refused job does not affect the others.
void print_done(Desk& desk, const Edits& edits, const Answers& done) {
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (done[i].__isset.error) continue;
    const std::string& name = edits[i].definition.name;
    if (desk.prints_data()) {
      rows.push_back({{"name", name}, {"id", std::to_string(done[i].id)}, {"version", done[i].version},
                      {"what", done[i].what}});
    } else {
      print_text(fmt::format("{} {} (version {})\n", printable(name), done[i].what, done[i].version));
    }
  }
  if (desk.prints_data()) print_data(desk.format, rows);
}

/// After refusals: says how much of the file was applied.
void tell_of_refused(const Answers& done) {
  const auto refused = std::ranges::count_if(done, [](const auto& each) { return each.__isset.error; });
  note(fmt::format("not applied: {} of {} jobs; apply the file again to see the plan as of now", refused,
                   done.size()));
}

}  // namespace

int job_apply(Desk& desk, const ApplyArguments& arguments) {
  auto text = read_input(arguments.file);
  if (!text) return complain(Error(ErrorCode::InvalidArgument, text.error().message));
  config::Problems problems;
  JobFile file = read_job_file(arguments.file == "-" ? "<stdin>" : arguments.file, *text, problems);
  if (!problems.empty()) {
    std::fputs(problems.text().c_str(), stderr);
    return kUsage;
  }
  Edits edits;
  for (thrift::JobDefinition& job : file.jobs) {
    if (job.space == "default") job.space = desk.space;
    edits.emplace_back().definition = std::move(job);
  }
  auto plan = apply_in_calls(desk, edits, true);
  if (!plan) return complain(plan.error());
  if (const int status = complain_of_refusals(edits, *plan); status != kOk) return status;
  if (!agreed(desk, edits, *plan, arguments.yes)) return kUsage;
  auto done = apply_in_calls(desk, edits, false);
  if (!done) return complain(done.error());
  print_done(desk, edits, *done);
  const int status = complain_of_refusals(edits, *done);
  if (status != kOk) tell_of_refused(*done);
  return status;
}

}  // namespace rota::client
