#include "plain.h"

#include <algorithm>
#include <limits>

namespace rota::when_model {
namespace {

using std::chrono::year_month_day;

constexpr int kFarthest = 15;
constexpr Day kReach = kFarthest + 2;
constexpr Ms kBeginning = std::numeric_limits<Ms>::min();
constexpr Ms kNever = std::numeric_limits<Ms>::max();

Day day_of(Ms local) { return (local >= 0 ? local : local - kDay + 1) / kDay; }

year_month_day date_of(Day day) { return year_month_day{std::chrono::sys_days{std::chrono::days{day}}}; }

/// Each moment at which the zone's clocks show that time, in order.
std::vector<Ms> passages(const model::ZoneRules& zone, Ms local) {
  std::set<Ms> out;
  for (const model::ZoneChange& change : zone.changes) {
    const Ms moment = local - change.offset_s * Ms{1000};
    if (offset_at(zone, moment) == change.offset_s * Ms{1000}) out.insert(moment);
  }
  return {out.begin(), out.end()};
}

/// When the clocks go on behind a time that they pass over.
Ms end_of_gap(const model::ZoneRules& zone, Ms local) {
  Ms out = kNever;
  for (std::size_t i = 1; i < zone.changes.size(); ++i) {
    const Ms change = zone.changes[i].from_utc_s * 1000;
    const bool is_passed = local >= change + zone.changes[i - 1].offset_s * Ms{1000} &&
                           local < change + zone.changes[i].offset_s * Ms{1000};
    if (is_passed) out = std::min(out, change);
  }
  return out;
}

/// The table of docs/schedules.md, Summer time.
std::vector<Ms> moments_of(const PlainEntry& entry, Ms local) {
  const std::vector<Ms> found = passages(*entry.zone, local);
  if (found.size() == 1) return found;
  if (found.empty()) {
    const bool fires = !entry.is_as_quartz && !entry.elapses && !entry.skips_gap;
    return fires ? std::vector{end_of_gap(*entry.zone, local)} : found;
  }
  if (entry.is_as_quartz) return {found.back()};
  if (entry.elapses || entry.repeated == Repeated::Both) return found;
  return {entry.repeated == Repeated::First ? found.front() : found.back()};
}

/// One moment of a local time, for telling what is in force then.
Ms moment_of(const model::ZoneRules& zone, Ms local) {
  const std::vector<Ms> found = passages(zone, local);
  return found.empty() ? end_of_gap(zone, local) : found.front();
}

/// The calendars of one entry.
class Days {
 public:
  Days(const PlainEntry& entry, const PlainCalendars& calendars) : entry_(entry) {
    for (const std::string& name : entry.calendars) used_.push_back(&calendars.at(name));
    for (const auto* versions : used_) {
      for (std::size_t i = 1; i < versions->size(); ++i) edits_.insert((*versions)[i].from);
    }
  }

  const std::set<Ms>& edits() const { return edits_; }

  /// Where a local time goes, by the versions that are in force at each moment that is looked at, or by those of
  /// one moment.
  std::optional<Ms> walk(Ms local, std::optional<Ms> by) const {
    for (int moved = 0; moved <= kFarthest; ++moved) {
      const Ms there = local + (entry_.move == Move::Previous ? -moved : moved) * kDay;
      if (is_open(there, by)) return there;
      if (entry_.move == Move::Skip || is_held(day_of(there), by)) return std::nullopt;
    }
    return std::nullopt;
  }

  /// Edits later than `known` are not known yet. What is moved back fires by the first versions that let it fire
  /// while they are in force.
  std::optional<Ms> placed(Ms local, Ms known = kNever) const {
    if (entry_.move != Move::Previous) {
      known_ = known;
      const auto out = walk(local, std::nullopt);
      known_ = kNever;
      return out;
    }
    return first_in_force([&](Ms by) { return walk(local, by); }, known);
  }

  std::optional<Ms> nth_day(Day first, Day last, Ms by) const {
    std::vector<Day> open;
    for (Day day = first; day <= last; ++day) {
      if (is_working_day(day, by)) open.push_back(day);
    }
    const int count = static_cast<int>(open.size());
    const int index = entry_.nth > 0 ? entry_.nth - 1 : count + entry_.nth;
    if (index < 0 || index >= count) return std::nullopt;
    return open[static_cast<std::size_t>(index)] * kDay + entry_.clock;
  }

  template <typename Place>
  std::optional<Ms> first_in_force(const Place& place, Ms known) const {
    Ms from = kBeginning;
    for (auto next = edits_.begin();; ++next) {
      const bool is_last = next == edits_.end() || *next > known;
      const auto found = place(from);
      const Ms moment = found ? moment_of(*entry_.zone, *found) : 0;
      if (found && moment >= from && (is_last || moment < *next)) return found;
      if (is_last) return std::nullopt;
      from = *next;
    }
  }

  /// By the versions before an edit it is due behind that edit, by those behind it before: so by neither. The
  /// local times.
  template <typename Place, typename PlaceAll>
  std::set<Ms> taken_away(const Place& place, const PlaceAll& place_all) const {
    std::map<Ms, Ms> taken;  // by edit
    Ms from = kBeginning;
    for (const Ms edit : edits_) {
      const auto before = place(from), after = place(edit);
      if (before && after) {
        const Ms was = moment_of(*entry_.zone, *before);
        if (was >= edit && moment_of(*entry_.zone, *after) < edit) taken[edit] = *before;
      }
      from = edit;
    }
    std::set<Ms> out;
    for (const auto& [edit, local] : taken) {
      const Ms moment = moment_of(*entry_.zone, local);
      const auto next = taken.upper_bound(edit);
      if (next != taken.end() && next->first <= moment) continue;
      if (!place_all(moment)) out.insert(local);
    }
    return out;
  }

 private:
  const PlainCalendar& in_force(const std::vector<PlainCalendar>& versions, Ms moment) const {
    const PlainCalendar* out = &versions.front();
    for (const PlainCalendar& each : versions) {
      if (each.from <= moment && each.from <= known_) out = &each;
    }
    return *out;
  }

  static std::optional<bool> says(const PlainCalendar& calendar, Day day) {
    const bool is_covered = !calendar.covers || (day >= calendar.covers->first && day <= calendar.covers->second);
    if (!is_covered && calendar.holds) return std::nullopt;
    if (is_covered && calendar.include.contains(day)) return true;
    if (is_covered && calendar.exclude.contains(day)) return false;
    return calendar.weekdays.contains(static_cast<int>((day + 4) % 7));
  }

  bool is_open(Ms local, std::optional<Ms> by) const {
    const Day asked = day_of(local) + entry_.asked_day;
    const Ms moment = moment_of(*entry_.zone, local);
    return std::ranges::all_of(used_, [&](const auto* versions) {
      const PlainCalendar& calendar = in_force(*versions, by.value_or(moment));
      if (!says(calendar, asked).value_or(false)) return false;
      const auto hours = calendar.hours.find(asked);
      if (hours == calendar.hours.end()) return true;
      const bool is_here = calendar.zone->name == entry_.zone->name;
      const Ms there = is_here ? local : moment + offset_at(*calendar.zone, moment);
      const Ms clock = there - asked * kDay;
      return clock >= hours->second.first && clock <= hours->second.second;
    });
  }

  bool is_held(Day day, std::optional<Ms> by) const {
    const Ms begin = moment_of(*entry_.zone, day * kDay), end = moment_of(*entry_.zone, (day + 1) * kDay);
    return std::ranges::any_of(used_, [&](const auto* versions) {
      if (by) return !says(in_force(*versions, *by), day + entry_.asked_day).has_value();
      bool out = !says(in_force(*versions, begin), day + entry_.asked_day).has_value();
      for (const PlainCalendar& each : *versions) {
        const bool begins = each.from > begin && each.from < end && each.from <= known_;
        if (begins && !says(each, day + entry_.asked_day)) out = true;
      }
      return out;
    });
  }

  bool is_working_day(Day day, Ms by) const {
    if (used_.empty()) return (day + 4) % 7 != 0 && (day + 4) % 7 != 6;
    return std::ranges::all_of(used_, [&](const auto* versions) {
      return says(in_force(*versions, by), day).value_or(false);
    });
  }

  const PlainEntry& entry_;
  std::vector<const std::vector<PlainCalendar>*> used_;
  std::set<Ms> edits_;
  mutable Ms known_ = kNever;
};

class Enumeration {
 public:
  Enumeration(const PlainEntry& entry, const PlainCalendars& calendars, Ms after, Ms through, Plan& out)
      : entry_(entry), days_(entry, calendars), after_(after), through_(through), out_(out) {}

  void crons() {
    const Ms first = after_ + offset_at(*entry_.zone, after_), last = through_ + offset_at(*entry_.zone, through_);
    const Day reach = entry_.move == Move::Skip ? 2 : kReach;
    for (Day day = day_of(first) - reach; day <= day_of(last) + reach; ++day) {
      if (!entry_.is_its_date(date_of(day))) continue;
      for (const int hour : entry_.hours) {
        for (const int minute : entry_.minutes) {
          for (const int second : entry_.seconds) cron_time(day * kDay + ((hour * 60 + minute) * 60 + second) * Ms{1000});
        }
      }
    }
  }

  void rate(Ms anchor) {
    const Ms from = entry_.start.value_or(anchor);
    for (Ms tick = entry_.start ? from : from + entry_.interval; tick <= through_; tick += entry_.interval) {
      if (tick <= after_) {
        tick += (after_ - tick) / entry_.interval * entry_.interval;
        if (tick <= after_) continue;
      }
      const Ms local = tick + offset_at(*entry_.zone, tick);
      if (is_between(local) && days_.placed(local) == local) add(tick);
    }
  }

  void once() {
    const Ms local = entry_.at + offset_at(*entry_.zone, entry_.at);
    const auto there = days_.placed(local);
    if (there) add(*there == local ? entry_.at : moment_of(*entry_.zone, *there));
    if (entry_.move != Move::Skip) take_away(local);
  }

  void working_days() {
    using namespace std::chrono;
    const year_month_day begin = date_of(day_of(after_) - 40);
    for (year_month month{begin.year(), begin.month()};; month += months{1}) {
      const Day first = sys_days{month / 1}.time_since_epoch().count(),
                last = sys_days{month / std::chrono::last}.time_since_epoch().count();
      if (first * kDay > through_ + 3 * kDay) return;
      const auto place = [&](Ms by) { return days_.nth_day(first, last, by); };
      const auto all = [&](Ms known) { return days_.first_in_force(place, known); };
      if (const auto there = all(kNever)) add_local(*there);
      for (const Ms local : days_.taken_away(place, all)) note_taken(local);
    }
  }

  bool is_between(Ms local) const {
    if (!entry_.between) return true;
    const auto [from, to] = *entry_.between;
    const Ms clock = local - day_of(local) * kDay;
    return from <= to ? clock >= from && clock <= to : clock >= from || clock <= to;
  }

 private:
  void cron_time(Ms local) {
    if (!is_between(local)) return;
    if (entry_.calendars.empty()) return add_local(local);
    if (const auto there = days_.placed(local)) add_local(*there);
    if (entry_.move != Move::Skip) take_away(local);
  }

  void take_away(Ms local) {
    const bool is_near = std::ranges::any_of(days_.edits(), [&](Ms edit) {
      return edit > local - (kReach + 2) * kDay && edit < local + (kReach + 2) * kDay;
    });
    if (!is_near) return;
    const auto place = [&](Ms by) { return days_.walk(local, by); };
    const auto all = [&](Ms known) { return days_.placed(local, known); };
    for (const Ms taken : days_.taken_away(place, all)) note_taken(taken);
  }

  void note_taken(Ms local) {
    for (const Ms moment : moments_of(entry_, local)) {
      if (is_valid(moment)) out_.edited_away.insert(moment);
    }
  }

  void add_local(Ms local) {
    for (const Ms moment : moments_of(entry_, local)) add(moment);
  }

  bool is_valid(Ms moment) const {
    if (moment <= after_ || moment > through_) return false;
    return (!entry_.start || moment >= *entry_.start) && (!entry_.end || moment <= *entry_.end);
  }

  void add(Ms moment) {
    if (!is_valid(moment)) return;
    const auto [at, is_new] = out_.ticks.try_emplace(moment, entry_.jitter);
    if (!is_new) at->second = std::min(at->second, entry_.jitter);
  }

  const PlainEntry& entry_;
  const Days days_;
  const Ms after_, through_;
  Plan& out_;

 public:
  const Days& days() const { return days_; }
};

}  // namespace

Ms offset_at(const model::ZoneRules& zone, Ms moment) {
  Ms out = 0;
  for (const model::ZoneChange& change : zone.changes) {
    if (change.from_utc_s <= moment / 1000) out = change.offset_s * Ms{1000};
  }
  return out;
}

void add_plan(const PlainEntry& entry, const PlainCalendars& calendars, Ms anchor, Ms after, Ms through, Plan& out) {
  Enumeration all(entry, calendars, after, through, out);
  switch (entry.kind) {
    case Kind::Cron: return all.crons();
    case Kind::Every: return all.rate(anchor);
    case Kind::At: return all.once();
    case Kind::WorkingDay: return all.working_days();
    case Kind::AfterEnd: return;
  }
}

std::optional<Ms> open_from(const PlainEntry& entry, const PlainCalendars& calendars, Ms due) {
  Plan unused;
  const Enumeration all(entry, calendars, due, due, unused);
  for (Ms moment = due; moment < due + 60 * kDay; moment = moment / kMinute * kMinute + kMinute) {
    const Ms local = moment + offset_at(*entry.zone, moment);
    if (all.is_between(local) && (entry.calendars.empty() || all.days().placed(local) == local)) return moment;
  }
  return std::nullopt;
}

}  // namespace rota::when_model
