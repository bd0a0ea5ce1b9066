// Saved calendars: created, edited, deleted. An edit is a new version that counts for planned moments a while
// ahead, so that no tick is decided before it and planned after it.
#pragma once

#include "master/core/snapshot.h"
#include "master/core/state.h"
#include "master/core/time/calendar_lead.h"
#include "master/core/time/calendar_source.h"

namespace rota::master::core {

inline constexpr std::size_t kMostCalendars = 10'000;
/// Planned anew in one turn, while there is time.
inline constexpr int kReplannedAtOnce = 500;

void handle_apply_calendar(Context& ctx, const ApplyCalendar& event);
/// Not while a job uses it.
void handle_delete_calendar(Context& ctx, const DeleteCalendar& event);
/// The calendars of a namespace, for compiling schedules. The state must outlive it.
CalendarSource calendars_in(const State& state, const std::string& space);
/// Plans jobs of edited calendars anew: some of them, or all when the edit is about to count.
void replan_jobs(Context& ctx, bool is_turn_for_it);
/// Those that jobs use and that soon (kCoverWarning) cover no more days: the first to end first, at most 100.
std::vector<EndingCalendar> calendars_ending(const State& state, WallTime now);
/// Tells of those that soon cover no more days: once a version and Term.
void look_at_calendars(Context& ctx);

}  // namespace rota::master::core
