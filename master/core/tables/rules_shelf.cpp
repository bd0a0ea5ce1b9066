#include "master/core/tables/rules_shelf.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/check.h"

namespace rota::master::core {
namespace {

constexpr std::size_t kKeptLeast = 64;

/// Of what tells most rules apart.
std::size_t hash_of(const KeptRules& rules) {
  std::size_t hash = 0;
  const auto mix = [&hash](std::size_t value) { hash = (hash ^ value) * 0x9E37'79B9'7F4A'7C15ull; };
  mix(std::hash<std::string_view>()(rules.schedule.cron));
  mix(std::hash<std::string_view>()(rules.pool));
  mix(std::hash<std::string_view>()(rules.worker));
  mix(std::hash<std::string_view>()(rules.handler));
  mix(static_cast<std::size_t>(rules.schedule.interval.count()));
  mix(static_cast<std::size_t>(rules.timeout.count()));
  for (const std::string& line : rules.schedule.entries) mix(std::hash<std::string_view>()(line));
  if (rules.schedule.start) mix(static_cast<std::size_t>(to_ms(*rules.schedule.start)));
  return hash;
}

/// Without those that no job has any more, once they may be half of all.
template <typename Kept, typename IsUnused>
void drop_where(Kept& kept, std::size_t& drop_at, std::size_t least, IsUnused is_unused) {
  if (kept.size() < drop_at) return;
  std::erase_if(kept, is_unused);
  drop_at = std::max(least, kept.size() * 2);
}

std::vector<CalendarHistoryPtr> calendars_of(const ScheduleNeeds& needs, const CalendarSource& source) {
  std::vector<CalendarHistoryPtr> out;
  if (!source) return out;
  for (const std::string& name : needs.calendars()) out.push_back(source(name));
  return out;
}

}  // namespace

RulesShelf::Places::iterator RulesShelf::find(const KeptRules& rules) {
  const auto [first, last] = kept_.equal_range(hash_of(rules));
  for (auto at = first; at != last; ++at) {
    const RulesPtr known = at->second.rules.lock();
    if (known != nullptr && (known.get() == &rules || *known == rules)) return at;
  }
  return kept_.end();
}

RulesPtr RulesShelf::share(RulesPtr rules) {
  if (const auto known = find(*rules); known != kept_.end()) return known->second.rules.lock();
  drop_where(kept_, drop_at_, kKeptLeast, [](const auto& each) { return each.second.rules.expired(); });
  Kept kept;
  kept.rules = rules;
  kept.needs = ScheduleNeeds(rules->schedule);
  kept_.emplace(hash_of(*rules), std::move(kept));
  return rules;
}

Result<Plan> RulesShelf::plan(RulesPtr rules, const model::Zones& zones, WallTime anchor, std::uint64_t hash,
                              const CalendarSource& calendars) {
  const auto known = find(*rules);
  CHECK_OR_DIE(known != kept_.end(), "rules were planned that nobody shares");
  Kept& kept = known->second;
  auto used = calendars_of(kept.needs, calendars);
  if (!(kept.zones == zones && kept.calendars == used)) {
    kept.schedules.clear();
    kept.zones = zones;
    kept.calendars = std::move(used);
  }
  std::string part = kept.needs.part_of_job(anchor, hash);
  if (const auto same = kept.schedules.find(part); same != kept.schedules.end()) {
    SchedulePtr schedule = same->second.lock();
    if (schedule != nullptr) return Plan{std::move(rules), std::move(schedule)};
  }
  auto compiled = compile(rules->schedule, zones, anchor, hash, calendars);
  if (!compiled) return fail(compiled.error());
  // Not by make_shared: what is kept here must not keep the memory of a schedule that no job has.
  Plan made{std::move(rules), SchedulePtr(new CompiledSchedule(std::move(*compiled)))};
  keep(kept, std::move(part), made.schedule);
  return made;
}

void RulesShelf::keep(Kept& kept, std::string part, const SchedulePtr& schedule) {
  drop_where(kept.schedules, kept.drop_at, 1, [](const auto& each) { return each.second.expired(); });
  kept.schedules.insert_or_assign(std::move(part), schedule);
}

}  // namespace rota::master::core
