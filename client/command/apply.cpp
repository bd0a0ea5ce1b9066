// `rota apply`: reads files, shows what they would change, asks, and applies it: calendars first, since jobs
// name them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "client/command/apply_plan.h"
#include "client/job_file.h"
#include "common/base/file.h"
#include "common/base/utf8.h"

namespace rota::client {
namespace {

Result<std::string> read_input(const std::string& file) {
  if (file != "-") return read_file(file, kLargestJobFile);
  std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  if (text.size() > kLargestJobFile) {
    return fail(ErrorCode::InvalidArgument, "standard input is longer than 64 MiB");
  }
  return text;
}

/// The file itself, or those of the folder and of the folders in it that end in .yaml or .yml, in order.
Result<std::vector<std::string>> files_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) return std::vector{path};
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    const std::string ending = at->path().extension();
    if (at->is_regular_file(error) && (ending == ".yaml" || ending == ".yml")) files.push_back(at->path());
  }
  if (error) return fail(ErrorCode::InvalidArgument, path + ": " + error.message());
  if (files.empty()) return fail(ErrorCode::InvalidArgument, path + ": no file in it ends in .yaml or .yml");
  std::ranges::sort(files);
  return files;
}

/// The same name in two files would be one job that changes twice; calendars likewise.
class Owners {
 public:
  /// False when another file has it: told.
  bool note_owner(std::string_view what, const auto& item, const std::string& file) {
    const auto [first, is_new] = first_.emplace(fmt::format("{} {}/{}", what, item.space, item.name), file);
    if (is_new || first->second == file) return true;
    note(fmt::format("rota: {} {} stands in {} and in {}; keep one", what, printable(item.name),
                     first->second, file));
    return false;
  }

 private:
  std::map<std::string, std::string> first_;
};

/// All files as one, and where each of its items stands.
struct Read {
  JobFile file;
  std::vector<Origin> job_origins, calendar_origins;
};

/// An exit status: anything but 0 was told.
int read_all(Desk& desk, const std::vector<std::string>& files, Read& into) {
  config::Problems problems;
  Owners owners;
  bool is_fine = true;
  for (const std::string& file : files) {
    auto text = read_input(file);
    if (!text) return complain(Error(ErrorCode::InvalidArgument, text.error().message));
    const std::string source = file == "-" ? "<stdin>" : file;
    JobFile one = read_job_file(source, *text, problems);
    const auto places = std::make_shared<FilePlaces>(source, std::move(*text));
    for (auto& job : one.jobs) {
      if (job.space == "default") job.space = desk.space;
      is_fine = owners.note_owner("job", job, file) && is_fine;
      into.job_origins.push_back({places, static_cast<std::size_t>(&job - one.jobs.data())});
      into.file.jobs.push_back(std::move(job));
    }
    for (auto& calendar : one.calendars) {
      if (calendar.space == "default") calendar.space = desk.space;
      is_fine = owners.note_owner("calendar", calendar, file) && is_fine;
      into.calendar_origins.push_back({places, static_cast<std::size_t>(&calendar - one.calendars.data())});
      into.file.calendars.push_back(std::move(calendar));
    }
  }
  if (!problems.empty()) std::fputs(problems.text().c_str(), stderr);
  return problems.empty() && is_fine ? kOk : kUsage;
}

/// Whether a person saw the plan and said yes, or need not be asked.
bool agreed(const Desk& desk, CalendarPlan& calendars, JobPlan& jobs, bool yes) {
  const bool changes = calendars.changes() || jobs.changes();
  if (!changes || yes) return true;
  calendars.expect_versions();
  jobs.expect_versions();
  if (confirmed(desk, "Apply?")) return true;
  note("nothing was changed; answer y, or add --yes to apply without being asked");
  return false;
}

void show(const CalendarPlan& calendars, const JobPlan& jobs, bool with_differences) {
  if (!calendars.empty()) calendars.show();
  if (!jobs.empty()) jobs.show();
  if (!with_differences) return;
  calendars.show_differences();
  jobs.show_differences();
}

int refuse_jobs(const JobFile& file) {
  if (file.jobs.empty()) return kOk;
  return complain(Error(ErrorCode::InvalidArgument,
                        fmt::format("{} jobs stand beside the calendars; `rota apply` takes both",
                                    file.jobs.size())));
}

}  // namespace

int apply(Desk& desk, const ApplyArguments& arguments) {
  const auto files = files_of(arguments.file);
  if (!files) return complain(files.error());
  Read read;
  if (const int status = read_all(desk, *files, read); status != kOk) return status;
  JobFile& file = read.file;
  if (arguments.only_calendars) {
    if (const int status = refuse_jobs(file); status != kOk) return status;
  }
  CalendarPlan calendars(desk, file.calendars, file.jobs, std::move(read.calendar_origins));
  JobPlan jobs(desk, std::move(file.jobs), file.calendars, std::move(read.job_origins));
  if (const int status = std::max(calendars.make(), jobs.make()); status != kOk) return status;
  const bool changes = calendars.changes() || jobs.changes();
  show(calendars, jobs, changes && !arguments.yes);
  calendars.tell_of_jobs_over();
  jobs.tell_of_past_moments();
  if (arguments.dry_run) return changes ? kWouldChange : kOk;
  if (!agreed(desk, calendars, jobs, arguments.yes)) return kUsage;
  nlohmann::json rows = nlohmann::json::array();
  int status = calendars.carry_out(rows);
  if (status == kOk) {
    status = jobs.carry_out(rows);
  } else if (!jobs.empty()) {
    note("no job was applied, since jobs may name the calendars that were refused");
  }
  if (desk.prints_data()) print_data(desk.format, rows);
  return status;
}

}  // namespace rota::client
