#include "common/wire/calendar_wire.h"

#include <fmt/format.h>

#include "common/model/job_fields.h"
#include "common/wire/calendar_json.h"
#include "common/wire/field_rules.h"
#include "common/wire/text_rules.h"

namespace rota::wire {
namespace {

constexpr std::size_t kMostHours = 1000;

std::string name_problem(const std::string& name) {
  if (is_word(name) && name.size() <= model::kMaxCalendarName) return "";
  return fmt::format("name: {} is no name of a calendar; take 1 to {} letters, digits, '_', '-' or '.'",
                     wire::quoted(name), model::kMaxCalendarName);
}

}  // namespace

std::string description_problem(const std::string& text) {
  if (text.size() > model::kMaxCalendarDescription) {
    return fmt::format("{} bytes, at most {} are allowed", text.size(), model::kMaxCalendarDescription);
  }
  return is_printable(text) ? "" : "it holds a control character; write it in one line";
}

std::vector<std::string> calendar_problems(const std::string& space, const model::Calendar& calendar) {
  std::vector<std::string> out;
  if (auto problem = text_problem(model::facts_of("namespace"), space); !problem.empty()) {
    out.push_back("namespace: " + problem);
  }
  if (auto problem = name_problem(calendar.name); !problem.empty()) out.push_back(std::move(problem));
  if (auto problem = description_problem(calendar.description); !problem.empty()) {
    out.push_back("description: " + problem);
  }
  if (calendar.hours.size() > kMostHours) {
    out.push_back(
        fmt::format("hours: {} entries, at most {} are allowed", calendar.hours.size(), kMostHours));
  }
  return out;
}

thrift::Calendar to_wire(const std::string& space, const model::Calendar& calendar) {
  thrift::Calendar out;
  out.__set_space(space);
  out.__set_name(calendar.name);
  out.__set_description(calendar.description);
  out.__set_time_zone(calendar.time_zone);
  out.__set_days(calendar.days);
  out.__set_excluded(calendar.exclude);
  out.__set_included(calendar.include);
  out.__set_hours(calendar.hours);
  out.__set_covers(calendar.covers);
  out.__set_beyond(text(name_of(calendar.beyond)));
  return out;
}

Result<model::Calendar> from_wire(const thrift::Calendar& calendar) {
  model::Calendar out;
  out.name = calendar.name;
  out.description = calendar.description;
  out.time_zone = calendar.time_zone;
  out.days = calendar.days;
  out.exclude = calendar.excluded;
  out.include = calendar.included;
  out.hours = calendar.hours;
  out.covers = calendar.covers;
  if (calendar.beyond == name_of(model::BeyondCover::Hold)) {
    out.beyond = model::BeyondCover::Hold;
  } else if (calendar.beyond != name_of(model::BeyondCover::Days)) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("beyond: {} is none of days, hold", wire::quoted(calendar.beyond)));
  }
  return out;
}

thrift::CalendarVersion to_wire(const model::CalendarRow& row) {
  thrift::CalendarVersion out;
  out.__set_version(row.version);
  out.__set_from_ms(to_ms(row.from));
  out.__set_changed_ms(to_ms(row.changed));
  out.__set_changed_by(row.principal);
  out.__set_deleted(row.deleted);
  out.__set_why(row.why);
  out.__set_calendar(to_wire(row.space, *row.calendar));
  return out;
}

}  // namespace rota::wire
