#include "common/model/schedule_text.h"

#include <fmt/ranges.h>

#include "common/base/duration_text.h"

namespace rota::model {
namespace {

struct Macro {
  std::string_view name;
  std::string_view cron;
};
constexpr Macro kMacros[] = {{"@hourly", "0 * * * *"},   {"@daily", "0 0 * * *"},
                             {"@midnight", "0 0 * * *"}, {"@weekly", "0 0 * * 0"},
                             {"@monthly", "0 0 1 * *"},  {"@yearly", "0 0 1 1 *"},
                             {"@annually", "0 0 1 1 *"}};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

std::string_view cron_of_macro(std::string_view text) {
  for (const Macro& macro : kMacros) {
    if (macro.name == trimmed(text)) return macro.cron;
  }
  return text;
}

bool uses_hash(std::string_view cron) {
  for (std::size_t i = 0; i < cron.size(); ++i) {
    const bool begins = i == 0 || std::string_view(" \t,").find(cron[i - 1]) != std::string_view::npos;
    const bool ends =
        i + 1 == cron.size() || std::string_view(" \t,(/").find(cron[i + 1]) != std::string_view::npos;
    if ((cron[i] == 'H' || cron[i] == 'h') && begins && ends) return true;
  }
  return false;
}

Result<Schedule> schedule_from_text(std::string_view text) {
  constexpr std::string_view kEvery = "@every";
  text = trimmed(text);
  Schedule schedule;
  if (text.starts_with(kEvery)) {
    const auto interval = parse_duration(trimmed(text.substr(kEvery.size())));
    if (!interval) return fail(interval.error());
    schedule.kind = ScheduleKind::FixedRate;
    schedule.interval = *interval;
    return schedule;
  }
  if (text.starts_with("@") && cron_of_macro(text) == text) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("'{}' is unknown; there are @every DURATION, @hourly, @daily, "
                            "@midnight, @weekly, @monthly, @yearly, @annually and @worker_start",
                            text));
  }
  if (text.empty())
    return fail(ErrorCode::InvalidArgument, "the schedule is empty; write a cron, @daily or @every 5m");
  schedule.kind = ScheduleKind::Cron;
  schedule.cron = std::string(text);
  return schedule;
}

std::string schedule_to_text(const Schedule& schedule) {
  switch (schedule.kind) {
    case ScheduleKind::None: return "";
    case ScheduleKind::Once:
      return schedule.start ? "once at " + format_moment(*schedule.start) : "once";
    case ScheduleKind::FixedRate: return "@every " + format_duration(schedule.interval);
    case ScheduleKind::Entries: return fmt::format("{}", fmt::join(schedule.entries, " | "));
    case ScheduleKind::Cron: break;
  }
  return schedule.cron;
}

}  // namespace rota::model
