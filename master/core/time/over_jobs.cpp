#include "master/core/time/over_jobs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "master/core/time/calendar_rules.h"
#include "master/core/time/cron_hash.h"
#include "master/core/time/over_entries.h"

namespace rota::master::core {
namespace {

/// Of one schedule.
struct Over {
  std::vector<std::size_t> entries;
  bool others_fire = false;
};

CalendarHistoryPtr edited(const CalendarEntry* entry, const CalendarPtr& compiled, WallTime from) {
  auto history = std::make_shared<CalendarHistory>();
  if (entry != nullptr) *history = entry->history();
  if (!history->empty()) from = std::max(from, history->back().from + Millis{1});
  history->push_back({from, compiled});
  return history;
}

class Search {
 public:
  Search(const State& state, const ApplyCalendar& event, WallTime from)
      : state_(state), space_(event.space), from_(from), saved_(calendars_in(state, event.space)) {
    add(event.calendar->name, event.compiled);
    if (event.beside == nullptr) return;
    for (const auto& [name, compiled] : *event.beside) {
      if (name.first == space_) add(name.second, compiled);
    }
  }

  /// Empty: too many others were compiled before it.
  std::optional<Over> look_at(const JobEntry& job) {
    const CompiledSchedule* schedule = &job.schedule();
    if (const auto known = known_.find(schedule); known != known_.end()) return known->second;
    if (tried_ == kMostSchedulesTried) return std::nullopt;
    ++tried_;
    Over over = find(job);
    known_.emplace(schedule, over);
    return over;
  }

 private:
  void add(const std::string& name, const CalendarPtr& compiled) {
    edited_.try_emplace(name, edited(state_.calendars().find(space_, name), compiled, from_));
  }

  Over find(const JobEntry& job) const {
    const CompiledEntries* now = job.schedule().entries();
    if (now == nullptr) return {};
    model::Zones zones;
    for (const CompiledEntry& entry : now->all()) zones.others.push_back(entry.zone());
    const auto source = [this](std::string_view name) {
      const auto own = edited_.find(name);
      return own == edited_.end() ? saved_(name) : own->second;
    };
    const auto compiled = compile(job.rules().schedule, zones, job.anchor,
                                  job_hash(job.row.space(), job.row.name), source);
    if (!compiled) return {};
    const WallTime before = from_ - Millis{1};
    Over out{over_entries(job.rules().schedule, *compiled->entries(), before), false};
    if (!out.entries.empty()) out.others_fire = any_fires_after(*compiled->entries(), before);
    return out;
  }

  const State& state_;
  const std::string space_;
  const WallTime from_;
  const CalendarSource saved_;
  std::map<std::string, CalendarHistoryPtr, std::less<>> edited_;
  std::map<const CompiledSchedule*, Over> known_;  ///< jobs with the same ticks share it
  std::size_t tried_ = 0;
};

}  // namespace

OverJobs over_jobs(const State& state, const ApplyCalendar& event, WallTime from) {
  const IdSet<JobId>& users = state.jobs().users_of(event.space, event.calendar->name);
  OverJobs out;
  out.users = users.size();
  Search search(state, event, from);
  for (const JobId id : users) {
    if (out.looked_at == kMostUsersLookedAt) break;
    const JobEntry& job = *state.find_job(id);
    const auto over = search.look_at(job);
    if (!over) break;
    ++out.looked_at;
    if (over->entries.empty()) continue;
    ++out.count;
    if (out.named.size() == kMostOverNamed) continue;
    out.named.push_back({job.row.name, over->entries, over->others_fire});
  }
  return out;
}

}  // namespace rota::master::core
