#include "master/core/time/over_entries.h"

#include <algorithm>
#include <utility>

#include "common/model/entry_text.h"

namespace rota::master::core {
namespace {

bool fires_after(const CompiledEntry& entry, WallTime moment) {
  if (entry.kind() == model::EntryKind::AfterEnd) return entry.due_after_end(moment).has_value();
  return entry.next_after(moment).has_value();
}

}  // namespace

model::ScheduleEntry without_calendars(model::ScheduleEntry entry) {
  entry.calendars.clear();
  entry.otherwise = model::Otherwise::Skip;
  entry.day = 0;
  return entry;
}

std::vector<std::size_t> over_entries(const model::Schedule& schedule, const CompiledEntries& compiled,
                                      WallTime after) {
  std::vector<std::size_t> over;
  for (std::size_t i = 0; i < compiled.all().size() && i < schedule.entries.size(); ++i) {
    const CompiledEntry& own = compiled.all()[i];
    const auto entry = model::entry_from_text(schedule.entries[i]);
    if (!entry || entry->calendars.empty() || fires_after(own, after)) continue;
    const auto open = compile_entry(without_calendars(*entry), {own.zone(), {}}, after, 0);
    if (open && fires_after(*open, after)) over.push_back(i);
  }
  return over;
}

bool any_fires_after(const CompiledEntries& compiled, WallTime after) {
  return std::ranges::any_of(compiled.all(), [after](const CompiledEntry& entry) {
    return entry.kind() == model::EntryKind::WorkerStart || fires_after(entry, after);
  });
}

}  // namespace rota::master::core
