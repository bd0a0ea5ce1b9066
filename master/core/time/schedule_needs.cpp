#include "master/core/time/schedule_needs.h"

#include <algorithm>
#include <type_traits>

#include "common/model/entry_text.h"
#include "common/model/schedule_text.h"
#include "master/core/time/cron.h"
#include "master/core/time/schedule.h"

namespace rota::master::core {
namespace {

template <typename Number>
void add(std::string& text, Number number) {
  static_assert(std::is_integral_v<Number>);
  text.append(reinterpret_cast<const char*>(&number), sizeof number);
}

/// All of it that an H may set. Lists of specials and years know none.
void add_cron(std::string& text, const CronExpression& cron) {
  add(text, cron.seconds);
  add(text, cron.minutes);
  add(text, cron.hours);
  add(text, cron.month_days);
  add(text, cron.months);
  add(text, cron.weekdays);
}

}  // namespace

ScheduleNeeds::ScheduleNeeds(const model::Schedule& schedule) {
  needs_anchor_ = schedule.kind == model::ScheduleKind::FixedRate;
  if (schedule.kind != model::ScheduleKind::Entries) return;
  calendars_ = calendars_of(schedule);
  for (const std::string& line : schedule.entries) {
    const auto entry = model::entry_from_text(line);
    if (!entry || (entry->kind == model::EntryKind::Every && !entry->start)) needs_anchor_ = true;
    if (entry && model::uses_hash(entry->cron)) hashed_.emplace_back(entry->cron, entry->dialect);
  }
}

std::string ScheduleNeeds::part_of_job(WallTime anchor, std::uint64_t hash) const {
  std::string part;
  if (needs_anchor_) add(part, to_ms(anchor));
  for (const auto& [text, dialect] : hashed_) {
    const auto cron = parse_cron(model::cron_of_macro(text), dialect, hash);
    if (cron) add_cron(part, *cron);
  }
  return part;
}

}  // namespace rota::master::core
