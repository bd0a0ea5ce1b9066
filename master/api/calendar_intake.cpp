#include "master/api/calendar_intake.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "common/time/zones.h"
#include "common/wire/calendar_wire.h"
#include "master/core/time/local_times.h"

namespace rota::master::api {
namespace {

using core::DayAnswer;
using model::Day;
using model::DayRange;

/// A list of days or ranges, to find which one holds a day.
class Written {
 public:
  Written(std::string_view key, const std::vector<std::string>& texts) : key_(key) {
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (const auto range = model::day_range_from_text(texts[i])) ranges_.push_back({*range, texts[i]});
    }
    std::ranges::sort(ranges_, {}, [](const Entry& entry) { return entry.days.first; });
  }
  /// "exclude: 2026-12-24..2026-12-26"; empty: none holds it.
  std::string holding(Day day) const {
    for (const Entry& entry : ranges_) {
      if (entry.days.first > day) break;
      if (entry.days.last >= day) return fmt::format("{}: {}", key_, entry.text);
    }
    return "";
  }

 private:
  struct Entry {
    DayRange days;
    std::string text;
  };
  std::string_view key_;
  std::vector<Entry> ranges_;
};

std::string clock_text(std::int64_t ms) {
  const std::int64_t seconds = ms / 1000;
  const std::string minutes = fmt::format("{:02}:{:02}", seconds / 3600, seconds / 60 % 60);
  return seconds % 60 == 0 ? minutes : fmt::format("{}:{:02}", minutes, seconds % 60);
}

/// One version, and why it says what it says.
class Explained {
 public:
  Explained(const model::CalendarRow& row, core::CalendarPtr compiled)
      : row_(row), compiled_(std::move(compiled)), include_("include", row.calendar->include),
        exclude_("exclude", row.calendar->exclude) {}

  thrift::CalendarDay on(Day day) const {
    const DayAnswer answer = compiled_->on(day);
    thrift::CalendarDay out;
    out.__set_day(model::day_to_text(day));
    out.__set_answer(answer == DayAnswer::Open ? "open" : answer == DayAnswer::Held ? "held" : "closed");
    out.__set_why(why(day, answer));
    out.__set_version(row_.version);
    const model::ClockRange* hours = answer == DayAnswer::Open ? compiled_->hours(day) : nullptr;
    if (hours == nullptr) return out;
    const bool is_to_midnight = hours->to_ms == model::kMillisOfDay;
    const std::int64_t last = is_to_midnight ? hours->to_ms : hours->to_ms - 1;
    out.__set_hours(clock_text(hours->from_ms) + "-" + clock_text(last));
    return out;
  }
  WallTime from() const { return row_.from; }
  const model::ZoneRules& zone() const { return compiled_->zone(); }

 private:
  std::string why(Day day, DayAnswer answer) const {
    const model::Calendar& calendar = *row_.calendar;
    const auto covers = compiled_->covers();
    const bool is_covered = !covers || (day >= covers->first && day <= covers->last);
    if (answer == DayAnswer::Held) return fmt::format("beyond covers: {} (hold)", calendar.covers);
    const std::string weekday = fmt::format("days: {}", calendar.days);
    if (!is_covered) return fmt::format("{}, beyond covers: {}", weekday, calendar.covers);
    if (auto found = include_.holding(day); !found.empty()) return found;
    if (auto found = exclude_.holding(day); !found.empty()) return found;
    return weekday;
  }

  const model::CalendarRow& row_;
  core::CalendarPtr compiled_;
  Written include_, exclude_;
};

/// The moments of a calendar's day, in its own zone.
std::pair<WallTime, WallTime> span_of(Day day, const model::ZoneRules& zone) {
  const std::int64_t midnight = day.time_since_epoch().count() * model::kMillisOfDay;
  return {core::moment_of_local(zone, midnight), core::moment_of_local(zone, midnight + model::kMillisOfDay)};
}

void add_day(const std::vector<Explained>& versions, Day day, std::vector<thrift::CalendarDay>& out) {
  for (std::size_t i = 0; i < versions.size(); ++i) {
    const auto [begins, ends] = span_of(day, versions[i].zone());
    const bool has_begun = i == 0 || versions[i].from() < ends;
    const bool is_over = i + 1 < versions.size() && versions[i + 1].from() <= begins;
    if (!has_begun || is_over) continue;
    out.push_back(versions[i].on(day));
    if (i > 0 && versions[i].from() > begins) out.back().__set_from_ms(to_ms(versions[i].from()));
  }
}

}  // namespace

Result<core::CalendarPtr> compile(const std::string& space, const model::Calendar& calendar,
                                  std::vector<std::string>* told) {
  std::vector<std::string> problems = wire::calendar_problems(space, calendar);
  auto zone = timezone::load_zone(calendar.time_zone);
  if (!zone) problems.push_back("time_zone: " + zone.error().message);
  auto compiled = core::compile_calendar(calendar, zone ? *zone : std::make_shared<model::ZoneRules>());
  if (!compiled) problems.push_back(compiled.error().message);
  if (told != nullptr) *told = problems;
  if (problems.empty()) {
    return core::CalendarPtr(std::make_shared<const core::CompiledCalendar>(std::move(*compiled)));
  }
  return fail(ErrorCode::InvalidArgument, fmt::format("{}", fmt::join(problems, "; ")));
}

Result<core::ApplyCalendar> accept_calendar(const thrift::CalendarEdit& edit, const std::string& principal,
                                            std::vector<std::string>* problems) {
  auto calendar = wire::from_wire(edit.calendar);
  if (!calendar) return fail(calendar.error());
  auto compiled = compile(edit.calendar.space, *calendar, problems);
  if (!compiled) return fail(compiled.error());
  core::ApplyCalendar event;
  event.principal = principal;
  event.space = edit.calendar.space;
  event.calendar = std::make_shared<const model::Calendar>(std::move(*calendar));
  event.compiled = std::move(*compiled);
  if (edit.__isset.expected_version) event.expected_version = edit.expected_version;
  return event;
}

core::CalendarSource StoredCalendars::in(const std::string& space) {
  return [this, space](std::string_view name) {
    const auto [known, is_new] = known_.try_emplace({space, std::string(name)});
    if (is_new) known->second = look_up(space, std::string(name));
    return known->second;
  };
}

void StoredCalendars::add_planned(const thrift::Calendar& calendar) {
  auto read = wire::from_wire(calendar);
  auto compiled = read ? compile(calendar.space, *read) : Result<core::CalendarPtr>(fail(read.error()));
  if (!compiled) return;  // its own plan tells what is wrong
  auto history = std::make_shared<core::CalendarHistory>();
  history->push_back({WallTime{}, std::move(*compiled)});
  known_.insert_or_assign({calendar.space, calendar.name}, std::move(history));
}

core::CalendarHistoryPtr StoredCalendars::look_up(const std::string& space, const std::string& name) {
  auto rows = reader_.calendar_versions(space, name);
  if (!rows) {
    trouble_ = rows.error();
    return nullptr;
  }
  auto history = std::make_shared<core::CalendarHistory>();
  for (const model::CalendarRow& row : present_versions(std::move(*rows))) {
    auto compiled = compile(space, *row.calendar);
    if (!compiled) return nullptr;
    history->push_back({row.from, std::move(*compiled)});
  }
  return history->empty() ? nullptr : history;
}

std::vector<model::CalendarRow> present_versions(std::vector<model::CalendarRow> rows) {
  const auto deleted = std::find_if(rows.rbegin(), rows.rend(), [](const auto& row) { return row.deleted; });
  rows.erase(rows.begin(), deleted.base());
  return rows;
}

Result<std::vector<thrift::CalendarDay>> preview(const std::vector<model::CalendarRow>& versions, Day first,
                                                 Day last) {
  std::vector<Explained> explained;
  for (const model::CalendarRow& row : versions) {
    auto compiled = compile(row.space, *row.calendar);
    if (!compiled) return fail(compiled.error());
    explained.emplace_back(row, std::move(*compiled));
  }
  std::vector<thrift::CalendarDay> out;
  for (Day day = first; day <= last; day += std::chrono::days{1}) add_day(explained, day, out);
  return out;
}

}  // namespace rota::master::api
