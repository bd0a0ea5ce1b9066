// What is due: ticks, delays, fences; and when to look again. Every tick is accounted for exactly once
// (P1): a run, or covered by a gap row, in the batch that also moves the watermark past it.
//
// The watermark is written with every batch that has other rows, and alone at most every
// kWatermarkPause while scheduled jobs exist; without any, an idle leader writes nothing.
#pragma once

#include "master/core/event.h"
#include "master/core/state.h"

namespace rota::master::core {

inline constexpr Millis kWatermarkPause{10'000};

/// Timers, due ticks, watermark.
void handle_time_passed(Context& ctx, const TimePassed& event);

/// The youngest moment at which a tick of this job is late, so that its late policy decides.
WallTime late_edge(const Context& ctx, const JobEntry& job);

/// Records every tick of this job up to `through`. An edit, pause or delete does this first.
void record_ticks_through(Context& ctx, JobEntry& job, WallTime through);

/// Whether its ticks are planned.
bool is_planned(const JobEntry& job);

/// Sets the job's next tick after all that is recorded; call it after any change of its version.
void plan_next_tick(State& state, JobEntry& job);

/// How long until handle_time_passed has something to do.
std::optional<Millis> next_wake(const State& state, Now now);

/// The newest tick at or before `through`, given that `first` (<= through) is one. Pure.
WallTime newest_tick(const CompiledSchedule& schedule, WallTime first, WallTime through);

}  // namespace rota::master::core
