// What an entry of a schedule must keep to by itself.
#include <fmt/format.h>

#include "common/base/utf8.h"
#include "common/model/schedule_text.h"
#include "master/core/time/entry.h"

namespace rota::master::core {
namespace {

using model::EntryKind;
using model::Otherwise;
using model::ScheduleEntry;
using Problems = std::vector<std::string>;

constexpr Millis kLeastInterval{100};
constexpr Millis kMostInterval = std::chrono::hours{24 * 3660};
constexpr std::size_t kMostCalendars = 8;
constexpr int kMostWorkingDays = 31;

std::string_view key_of(EntryKind kind) {
  switch (kind) {
    case EntryKind::Cron:
      return "cron";
    case EntryKind::Every:
      return "every";
    case EntryKind::At:
      return "at";
    case EntryKind::AfterEnd:
      return "after_end";
    case EntryKind::WorkingDay:
      return "working_day";
    case EntryKind::WorkerStart:
      break;
  }
  return "@worker_start";
}

void check_cron(const ScheduleEntry& entry, Problems& problems) {
  if (entry.kind != EntryKind::Cron) return;
  const auto cron = parse_cron(model::cron_of_macro(entry.cron), entry.dialect, 0);
  if (cron) return;
  problems.push_back(fmt::format("cron '{}': {}", shown_text(entry.cron), cron.error().message));
}

void check_interval(const ScheduleEntry& entry, Problems& problems) {
  if (entry.kind != EntryKind::Every && entry.kind != EntryKind::AfterEnd) return;
  if (entry.interval >= kLeastInterval && entry.interval <= kMostInterval) return;
  problems.push_back(fmt::format("{}: {} ms is out of range, allowed are {} to {} ms", key_of(entry.kind),
                                 entry.interval.count(), kLeastInterval.count(), kMostInterval.count()));
}

void check_working_day(const ScheduleEntry& entry, Problems& problems) {
  if (entry.kind != EntryKind::WorkingDay) {
    if (!entry.time.empty()) problems.emplace_back("time: it goes with working_day");
    return;
  }
  const int nth = entry.working_day;
  if (nth == 0 || nth < -kMostWorkingDays || nth > kMostWorkingDays) {
    problems.push_back(
        fmt::format("working_day: {} is out of range, allowed "
                    "are 1 to {}, and -1 (the last one) "
                    "to -{}",
                    nth, kMostWorkingDays, kMostWorkingDays));
  }
  if (entry.time.empty()) return;
  if (const auto time = model::clock_from_text(entry.time); !time) {
    problems.push_back("time: " + time.error().message);
  }
}

void check_between(const ScheduleEntry& entry, Problems& problems) {
  if (entry.between.empty()) return;
  const bool may =
      entry.kind == EntryKind::Cron || entry.kind == EntryKind::Every || entry.kind == EntryKind::AfterEnd;
  if (!may) problems.push_back(fmt::format("between: it does not go with {}", key_of(entry.kind)));
  const auto between = model::clock_range_from_text(entry.between);
  if (!between) problems.push_back("between: " + between.error().message);
}

void check_calendars(const ScheduleEntry& entry, Problems& problems) {
  const bool has_any = !entry.calendars.empty();
  if (entry.calendars.size() > kMostCalendars) {
    problems.push_back(fmt::format("calendar: {} calendars, at most {} are allowed", entry.calendars.size(),
                                   kMostCalendars));
  }
  if (has_any && entry.kind == EntryKind::WorkerStart) {
    problems.emplace_back("calendar: it does not go with @worker_start");
  }
  if (!has_any && entry.otherwise != Otherwise::Skip)
    problems.emplace_back("otherwise: it needs a calendar");
  if (!has_any && entry.day != 0) problems.emplace_back("day: it needs a calendar");
  if (entry.day < -1 || entry.day > 1) {
    problems.push_back(fmt::format("day: {} is out of range, allowed are -1 to 1", entry.day));
  }
  if (entry.kind == EntryKind::WorkingDay && entry.day != 0) {
    problems.emplace_back("day: it does not go with working_day");
  }
  const bool may_move = entry.kind == EntryKind::Cron || entry.kind == EntryKind::At;
  if (entry.otherwise == Otherwise::Skip || may_move) return;
  problems.push_back(
      fmt::format("otherwise: what falls on a closed day can be "
                  "moved for cron and at, not for {}",
                  key_of(entry.kind)));
}

void check_quartz(const ScheduleEntry& entry, Problems& problems) {
  if (!entry.is_as_quartz) return;
  if (entry.kind != EntryKind::Cron) problems.emplace_back("skipped_time: quartz goes with cron");
  if (entry.otherwise != Otherwise::Skip) {
    problems.emplace_back(
        "otherwise: Quartz moves nothing to another day; "
        "leave out skipped_time: quartz");
  }
}

}  // namespace

std::vector<std::string> entry_problems(const ScheduleEntry& entry) {
  Problems problems;
  check_cron(entry, problems);
  check_interval(entry, problems);
  check_working_day(entry, problems);
  check_between(entry, problems);
  check_calendars(entry, problems);
  check_quartz(entry, problems);
  if (entry.kind == EntryKind::At && !entry.start) problems.emplace_back("at: the moment is missing");
  if (entry.jitter < Millis{0} || entry.jitter > kLongestJitter) {
    problems.push_back(fmt::format("jitter: {} ms is out of range, allowed are 0 to {} ms",
                                   entry.jitter.count(), kLongestJitter.count()));
  }
  if (entry.start && entry.end && *entry.end < *entry.start)
    problems.emplace_back("end: it lies before start");
  return problems;
}

}  // namespace rota::master::core
