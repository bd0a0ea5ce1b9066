#include "common/model/entry_rules.h"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "common/base/duration_text.h"
#include "common/base/utf8.h"
#include "common/model/day_text.h"

namespace rota::model {
namespace {

constexpr std::size_t kMostCalendars = 8;

std::string_view key_of(EntryKind kind) {
  switch (kind) {
    case EntryKind::Cron: return "cron";
    case EntryKind::Every: return "every";
    case EntryKind::At: return "at";
    case EntryKind::AfterEnd: return "after_end";
    case EntryKind::WorkingDay: return "working_day";
    case EntryKind::WorkerStart: break;
  }
  return "@worker_start";
}

class Finder {
 public:
  explicit Finder(const ScheduleEntry& entry) : entry_(entry) {}

  std::vector<EntryProblem> find() {
    check_interval();
    check_working_day();
    check_between();
    check_calendars();
    check_otherwise();
    check_quartz();
    check_bounds();
    return std::move(problems_);
  }

 private:
  void add(std::string_view key, std::string what) {
    problems_.push_back({0, std::string(key), std::move(what)});
  }
  void add_not_with(std::string_view key) {
    add(key, fmt::format("it does not go with {}; remove it", key_of(entry_.kind)));
  }
  bool is(EntryKind kind) const { return entry_.kind == kind; }

  void check_interval() {
    if (!is(EntryKind::Every) && !is(EntryKind::AfterEnd)) return;
    if (entry_.interval >= kLeastInterval && entry_.interval <= kMostInterval) return;
    add(key_of(entry_.kind),
        fmt::format("{} is out of range; write a duration from {} to {}", format_duration(entry_.interval),
                    format_duration(kLeastInterval), format_duration(kMostInterval)));
  }

  void check_working_day() {
    if (!is(EntryKind::WorkingDay)) {
      if (!entry_.time.empty()) add("time", "it goes with working_day; remove it");
      return;
    }
    const int nth = entry_.working_day;
    if (nth == 0 || nth < -kMostWorkingDays || nth > kMostWorkingDays) {
      add("working_day", fmt::format("{} is out of range; write 1 to {}, or -1 (the last one) to -{}", nth,
                                     kMostWorkingDays, kMostWorkingDays));
    }
    if (entry_.time.empty()) return;
    if (const auto time = clock_from_text(entry_.time); !time) add("time", time.error().message);
  }

  void check_between() {
    if (entry_.between.empty()) return;
    if (!is(EntryKind::Cron) && !is(EntryKind::Every) && !is(EntryKind::AfterEnd)) add_not_with("between");
    const auto between = clock_range_from_text(entry_.between);
    if (!between) add("between", between.error().message);
  }

  void check_calendars() {
    const bool has_any = !entry_.calendars.empty();
    if (entry_.calendars.size() > kMostCalendars) {
      add("calendar",
          fmt::format("{} calendars, at most {} are allowed", entry_.calendars.size(), kMostCalendars));
    }
    if (has_any && is(EntryKind::WorkerStart)) add_not_with("calendar");
    if (!has_any && entry_.day != 0) add("calendar.day", "it needs a calendar; name it, or remove the day");
    if (entry_.day < -1 || entry_.day > 1) {
      add("calendar.day", fmt::format("{} is out of range; write -1, 0 or 1", entry_.day));
    }
    if (is(EntryKind::WorkingDay) && entry_.day != 0) add_not_with("calendar.day");
  }

  void check_otherwise() {
    if (entry_.otherwise == Otherwise::Skip) return;
    if (entry_.calendars.empty()) {
      add("calendar.otherwise", "it needs a calendar; name it, or remove otherwise");
    }
    if (is(EntryKind::Cron) || is(EntryKind::At)) return;
    add("calendar.otherwise",
        fmt::format("what falls on a closed day can be moved for cron and at, not for {}; remove it",
                    key_of(entry_.kind)));
  }

  void check_quartz() {
    if (!entry_.is_as_quartz) return;
    if (!is(EntryKind::Cron)) add("skipped_time", "quartz goes with cron; remove it");
    if (entry_.otherwise == Otherwise::Skip) return;
    add("calendar.otherwise", "Quartz moves nothing to another day; leave out skipped_time: quartz");
  }

  void check_bounds() {
    if (is(EntryKind::At) && !entry_.start) add("at", "the moment is missing; write it");
    if (entry_.jitter < Millis{0} || entry_.jitter > kLongestJitter) {
      add("jitter", fmt::format("{} is out of range; write a duration from 0s to {}",
                                format_duration(entry_.jitter), format_duration(kLongestJitter)));
    }
    if (!entry_.start || !entry_.end || *entry_.end >= *entry_.start) return;
    add("end", fmt::format("{} lies before {}, {}; change one of them", format_moment(*entry_.end),
                           is(EntryKind::At) ? "at" : "start", format_moment(*entry_.start)));
  }

  const ScheduleEntry& entry_;
  std::vector<EntryProblem> problems_;
};

}  // namespace

std::vector<EntryProblem> problems_of_entry(const ScheduleEntry& entry) { return Finder(entry).find(); }

std::vector<EntryProblem> problems_among(const std::vector<ScheduleEntry>& entries) {
  std::vector<EntryProblem> out;
  std::set<std::string_view> names;
  int after_end = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const ScheduleEntry& entry = entries[i];
    if (entry.kind == EntryKind::AfterEnd && ++after_end == 2) {
      out.push_back({i, "after_end", "another entry has it already; keep one"});
    }
    if (entry.name.empty() || names.insert(entry.name).second) continue;
    out.push_back({i, "name", fmt::format("{} is the name of another entry too; give each a name of its own",
                                          quoted_text(entry.name))});
  }
  return out;
}

}  // namespace rota::model
