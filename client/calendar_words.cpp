#include "client/calendar_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "common/base/utf8.h"
#include "common/model/day_text.h"

namespace rota::client {
namespace {

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// "settle", or "month (only schedule[1]; its other entries fire)".
std::string job_words(const thrift::JobOver& job) {
  if (!job.others_fire) return shown_text(job.name);
  std::vector<std::string> places;
  for (const auto place : job.entries) places.push_back(fmt::format("schedule[{}]", place));
  return fmt::format("{} (only {}; its other entries fire)", shown_text(job.name), fmt::join(places, ", "));
}

std::string of_those_looked_at(const thrift::JobsOver& over) {
  if (over.looked_at >= over.users) return "";
  return fmt::format("; of the {} only {} were looked at", counted(over.users, "job") + " that use it",
                     over.looked_at);
}

}  // namespace

std::string over_words(const std::string& calendar, const thrift::CalendarEdited& edited,
                       const std::set<std::string>& leave_out) {
  if (edited.what != "changed") return "";
  const std::string subject = fmt::format("calendar {}, version {}: ", shown_text(calendar), edited.version);
  if (!edited.__isset.jobs_over) {
    return subject +
           "whether jobs that use it can never fire again is not known, since the leader did not say it";
  }
  const thrift::JobsOver& over = edited.jobs_over;
  std::vector<std::string> jobs;
  std::int64_t count = over.count;
  for (const thrift::JobOver& job : over.jobs) {
    leave_out.contains(job.name) ? void(--count) : jobs.push_back(job_words(job));
  }
  if (count == 0) {
    const std::string part = of_those_looked_at(over);
    return part.empty() ? "" : subject + "no job was found that can never fire again" + part;
  }
  const auto more = count - static_cast<std::int64_t>(jobs.size());
  if (more > 0) jobs.push_back(fmt::format("and {} more", more));
  return fmt::format("{}{} can never fire again once it counts: {}{}; let it cover more days, or change {}",
                     subject, counted(count, "job"), fmt::join(jobs, ", "), of_those_looked_at(over),
                     count == 1 ? "the job" : "the jobs");
}

std::string ending_words(const thrift::CalendarEnding& ending, std::int64_t now_ms) {
  const std::int64_t days = (ending.ends_ms - now_ms) / model::kMillisOfDay;
  const std::string when = ending.ends_ms <= now_ms ? "over" : counted(days, "day") + " from now";
  return fmt::format("calendar {}/{} covers no day after {} ({}); {}; {}", shown_text(ending.space),
                     shown_text(ending.name), ending.last_day, when,
                     ending.jobs == 1 ? "1 job uses it" : fmt::format("{} jobs use it", ending.jobs),
                     ending.beyond == "hold" ? "nothing fires then (beyond: hold)"
                                             : "its weekdays alone decide then (beyond: days)");
}

}  // namespace rota::client
