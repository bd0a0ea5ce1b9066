#include "master/core/tables/rules_shelf.h"

#include <algorithm>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

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

}  // namespace

namespace {

std::vector<CalendarHistoryPtr> calendars_in(const model::Schedule& schedule, const CalendarSource& source) {
  std::vector<CalendarHistoryPtr> out;
  if (schedule.entries.empty() || !source) return out;
  for (const std::string& name : calendars_of(schedule)) out.push_back(source(name));
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
  drop_unused();
  kept_.emplace(hash_of(*rules), Kept{rules, {}, {}, {}});
  return rules;
}

Result<Plan> RulesShelf::plan(RulesPtr rules, const model::Zones& zones, WallTime anchor,
                              std::uint64_t hash, const CalendarSource& calendars) {
  auto used = calendars_in(rules->schedule, calendars);
  const auto known = depends_on_job(rules->schedule) ? kept_.end() : find(*rules);
  if (known != kept_.end() && known->second.zones == zones && known->second.calendars == used) {
    SchedulePtr schedule = known->second.schedule.lock();
    if (schedule != nullptr) return Plan{std::move(rules), std::move(schedule)};
  }
  auto compiled = compile(rules->schedule, zones, anchor, hash, calendars);
  if (!compiled) return fail(compiled.error());
  Plan made{std::move(rules), std::make_shared<const CompiledSchedule>(std::move(*compiled))};
  if (known != kept_.end()) {
    known->second.zones = zones;
    known->second.calendars = std::move(used);
    known->second.schedule = made.schedule;
  }
  return made;
}

void RulesShelf::drop_unused() {
  if (kept_.size() < drop_at_) return;
  std::erase_if(kept_, [](const auto& each) { return each.second.rules.expired(); });
  drop_at_ = std::max(kKeptLeast, kept_.size() * 2);
}

}  // namespace rota::master::core
