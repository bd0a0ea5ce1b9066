// What an entry of a schedule must keep to by itself.
#include <fmt/format.h>

#include "common/base/utf8.h"
#include "common/model/entry_rules.h"
#include "common/model/schedule_text.h"
#include "master/core/time/entry.h"

namespace rota::master::core {

std::vector<std::string> entry_problems(const model::ScheduleEntry& entry) {
  std::vector<std::string> problems;
  if (entry.kind == model::EntryKind::Cron) {
    const auto cron = parse_cron(model::cron_of_macro(entry.cron), entry.dialect, 0);
    if (!cron) problems.push_back(fmt::format("cron '{}': {}", shown_text(entry.cron), cron.error().message));
  }
  for (const model::EntryProblem& each : model::problems_of_entry(entry)) {
    problems.push_back(fmt::format("{}: {}", each.key, each.what));
  }
  return problems;
}

}  // namespace rota::master::core
