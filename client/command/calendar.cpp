// `rota calendar`: what is stored, what it says of days, and days off out of .ics files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "client/calendar_file.h"
#include "client/command/commands.h"
#include "client/command/listing.h"
#include "client/ics_reader.h"
#include "client/job_file.h"
#include "common/base/file.h"
#include "common/base/utf8.h"
#include "common/model/day_text.h"

namespace rota::client {
namespace {

using model::Day;

constexpr std::chrono::days kSoon{60};
constexpr std::chrono::days kShownDays{30};

Day today() { return std::chrono::floor<std::chrono::days>(SystemClock{}.wall()); }

/// "ends in 12 days", "ended"; empty while there is time.
std::string cover_remark(const thrift::Calendar& calendar) {
  const auto covers = model::day_range_from_text(calendar.covers);
  if (calendar.covers.empty() || !covers || covers->last - today() >= kSoon) return "";
  const bool holds = calendar.beyond == "hold";
  const std::string then = holds ? "nothing fires then" : "its weekdays alone decide then";
  const auto left = (covers->last - today()).count();
  if (left < 0) return fmt::format("ended: {}", holds ? "nothing fires" : then);
  return fmt::format("ends in {} days: {}", left + 1, then);
}

nlohmann::json calendar_json(const thrift::Calendar& calendar) {
  return {{"namespace", calendar.space},       {"name", calendar.name},
          {"description", calendar.description}, {"time_zone", calendar.time_zone},
          {"days", calendar.days},             {"exclude", calendar.excluded},
          {"include", calendar.included},      {"hours", calendar.hours},
          {"covers", calendar.covers},         {"beyond", calendar.beyond}};
}

nlohmann::json version_json(const thrift::CalendarVersion& version) {
  return {{"version", version.version}, {"counts_from_ms", version.from_ms},
          {"changed_at_ms", version.changed_ms}, {"changed_by", version.changed_by}};
}

nlohmann::json info_json(const thrift::CalendarInfo& info) {
  nlohmann::json out = version_json(info.newest);
  out["calendar"] = calendar_json(info.newest.calendar);
  if (!info.versions.empty()) out["versions"] = nlohmann::json::array();
  for (const auto& version : info.versions) out["versions"].push_back(version_json(version));
  return out;
}

/// "mon-fri, 9 off, 1 short": days and ranges.
std::string dates_of(const thrift::Calendar& calendar) {
  std::string out = calendar.days;
  if (!calendar.excluded.empty()) out += fmt::format(", {} off", calendar.excluded.size());
  if (!calendar.included.empty()) out += fmt::format(", {} on", calendar.included.size());
  if (!calendar.hours.empty()) out += fmt::format(", {} short", calendar.hours.size());
  return out;
}

/// "2026-12" is a month, "2026" a year, else a day or a range of days.
Result<model::DayRange> range_from(const std::string& text) {
  if (text.size() == 4 || text.size() == 7) {
    const auto first = model::day_from_text(text.size() == 4 ? text + "-01-01" : text + "-01");
    if (!first) return fail(first.error());
    const std::chrono::year_month_day date{*first};
    const Day end_of_month{date.year() / date.month() / std::chrono::last};
    return model::DayRange{*first, text.size() == 4 ? Day{date.year() / 12 / 31} : end_of_month};
  }
  return model::day_range_from_text(text);
}

nlohmann::json day_json(const thrift::CalendarDay& day) {
  nlohmann::json out = {
      {"day", day.day}, {"answer", day.answer}, {"why", day.why}, {"version", day.version}};
  if (!day.hours.empty()) out["hours"] = day.hours;
  if (day.__isset.from_ms) out["counts_from_ms"] = day.from_ms;
  return out;
}

std::string weekday_of(const std::string& day) {
  constexpr const char* kNames[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  const auto read = model::day_from_text(day);
  return read ? kNames[std::chrono::weekday{*read}.c_encoding()] : "";
}

/// The one calendar of a file, or an error that says what stands there.
Result<thrift::Calendar> only_calendar(const std::string& path) {
  auto text = read_file(path, kLargestJobFile);
  if (!text) return fail(ErrorCode::InvalidArgument, text.error().message);
  config::Problems problems;
  const JobFile file = read_job_file(path, *text, problems);
  if (!problems.empty()) return fail(ErrorCode::InvalidArgument, problems.text());
  if (file.calendars.size() == 1) return file.calendars.front();
  return fail(ErrorCode::InvalidArgument,
              fmt::format("{} holds {} calendars; preview takes a file with one", path,
                          file.calendars.size()));
}

}  // namespace

int calendar_list(Desk& desk, const std::string& prefix, int limit) {
  auto calendars = desk.cluster.list_calendars(desk.space, prefix, limit);
  if (!calendars) return complain(calendars.error());
  const std::int64_t now_ms = to_ms(SystemClock{}.wall());
  Listing list(desk, {"CALENDAR", "VERSION", "COUNTS FROM", "DAYS", "COVERS", "REMARK", wide("CHANGED"),
                      wide("BY"), wide("TIME ZONE"), wide("DESCRIPTION")});
  for (const auto& info : *calendars) {
    const thrift::Calendar& calendar = info.newest.calendar;
    std::string remark = cover_remark(calendar);
    if (info.newest.from_ms > now_ms) remark = "counts soon" + (remark.empty() ? "" : "; " + remark);
    list.add([&info] { return info_json(info); },
             {calendar.name, std::to_string(info.newest.version), show_time(info.newest.from_ms),
              dates_of(calendar), calendar.covers.empty() ? "all days" : calendar.covers, remark,
              show_time(info.newest.changed_ms), info.newest.changed_by, calendar.time_zone,
              calendar.description});
  }
  return list.finish();
}

int calendar_show(Desk& desk, const std::string& name) {
  auto info = desk.cluster.get_calendar(desk.space, name);
  if (!info) return complain(info.error());
  if (desk.prints_data()) {
    print_data(desk.format, info_json(*info));
    return kOk;
  }
  for (const auto& version : info->versions) {
    note(fmt::format("# version {}, counts from {}, made {} by {}", version.version,
                     show_time(version.from_ms), show_time(version.changed_ms),
                     printable(version.changed_by)));
  }
  if (const auto remark = cover_remark(info->newest.calendar); !remark.empty()) note("# " + remark);
  print_text(calendar_file_text(info->newest.calendar));
  return kOk;
}

int calendar_delete(Desk& desk, const std::string& name, const std::string& why, bool yes) {
  if (!yes) {
    const auto info = desk.cluster.get_calendar(desk.space, name);
    if (!info) return complain(info.error());
    const std::string question =
        fmt::format("Delete calendar {} (version {})?", printable(name), info->newest.version);
    if (!confirmed(desk, question)) {
      note("nothing was deleted; answer y, or add --yes to delete without being asked");
      return kUsage;
    }
  }
  const auto deleted = desk.cluster.delete_calendar(desk.space, name, why);
  if (!deleted) return complain(deleted.error());
  if (desk.prints_data()) {
    print_data(desk.format, {{"name", name}, {"version", deleted->version}, {"what", deleted->what}});
  } else {
    print_text(fmt::format("{} deleted\n", printable(name)));
  }
  return kOk;
}

int calendar_preview(Desk& desk, const PreviewArguments& arguments) {
  model::DayRange range{today(), today() + kShownDays};
  if (!arguments.range.empty()) {
    const auto given = range_from(arguments.range);
    if (!given) return complain(given.error());
    range = *given;
  }
  thrift::PreviewRequest request;
  request.space = desk.space;
  request.name = arguments.name;
  request.first_day = model::day_to_text(range.first);
  request.last_day = model::day_to_text(range.last);
  if (!arguments.file.empty()) {
    auto calendar = only_calendar(arguments.file);
    if (!calendar) return complain(calendar.error());
    request.__set_calendar(std::move(*calendar));
  }
  const auto days = desk.cluster.preview_calendar(request);
  if (!days) return complain(days.error());
  Listing list(desk, {"DAY", "", "IS", "HOURS", "WHY"});
  for (const auto& day : *days) {
    std::string why = day.why;
    if (day.__isset.from_ms) {
      why += fmt::format(" (version {}, from {})", day.version, show_time(day.from_ms));
    }
    list.add([&day] { return day_json(day); }, {day.day, weekday_of(day.day), day.answer, day.hours, why});
  }
  return list.finish();
}

int calendar_import(const ImportArguments& arguments) {
  const auto range = range_from(arguments.covers);
  if (!range) return complain(range.error());
  const auto text = read_file(arguments.file, kLargestIcs);
  if (!text) return complain(Error(ErrorCode::InvalidArgument, text.error().message));
  const auto ics = read_ics(*text, *range);
  if (!ics) return complain(Error(ErrorCode::InvalidArgument, arguments.file + ": " + ics.error().message));
  thrift::Calendar calendar;
  calendar.name = arguments.name;
  calendar.time_zone = arguments.time_zone;
  calendar.days = arguments.days;
  calendar.covers = model::day_to_text(range->first) + ".." + model::day_to_text(range->last);
  std::vector<std::string>& days = arguments.open ? calendar.included : calendar.excluded;
  for (const IcsDays& each : ics->days) {
    std::string line = model::day_to_text(each.days.first);
    if (each.days.last > each.days.first) line += ".." + model::day_to_text(each.days.last);
    if (days.empty() || days.back() != line) days.push_back(line);
    note(fmt::format("# {} {}", line, printable(each.summary)));
  }
  for (const std::string& each : ics->left_out) {
    note(fmt::format("left out: {} is no whole day", printable(each)));
  }
  if (days.empty()) note(fmt::format("no whole day of {} is in it", arguments.covers));
  print_text(calendar_file_text(calendar));
  return kOk;
}

}  // namespace rota::client
