// When it is told that a job's expectation is not met (`expect`): at the moment that it names, or as soon as
// it cannot be met any more, once for each run or tick, by a row in the batch that decides it. Nothing else
// depends on it. While ticks are held, moments that pass are looked at later.
//
//   a run            start_within, finish_by (of a tick), longer_than
//   a gap of ticks   start_within, finish_by, of the first of them, with the gap
//   a paused job     the same, of the first tick of each paused version, at that tick
//
// Of a run that a worker holds the end is awaited a little: its worker may be about to tell it.
#pragma once

#include <optional>
#include <string>

#include "master/core/state.h"

namespace rota::master::core {

/// So long after the moment an end is awaited from a worker; and in a new Term, which knows no worker yet.
inline constexpr Millis kEndAwaited{5000};
inline constexpr Millis kEndAwaitedInNewTerm{10'000};
/// A worker whose death is older than this when a Term begins is not told any more.
inline constexpr Millis kDeadToldWithin = std::chrono::hours{24};

/// A run that is new, or that was recovered.
void expect_run(State& state, const RunEntry& run);
/// Its first attempt was sent.
void expect_length(State& state, const RunEntry& run);
/// It is final: what cannot be met any more is told.
void settle_expectations(Context& ctx, const RunEntry& run);
/// It was skipped as it was made.
void expect_skipped(Context& ctx, const JobEntry& job, const model::Run& row);
void expect_gap(Context& ctx, const JobEntry& job, const model::Gap& gap);
/// Its version or its state is another one.
void expect_paused(State& state, const JobEntry& job);

/// With each TimePassed.
void tell_expectations(Context& ctx);
void tell_dead_workers(Context& ctx);
/// With each event: the first row of a Term says that it tells all others.
void mark_expecting_term(Context& ctx);
/// What the Terms before have told of what is still open.
void recover_told(State& state, const std::vector<model::LateRow>& rows);
/// A worker of before this Term that is away.
void recover_away(State& state, const std::string& worker, WallTime left, const std::string& why);

std::optional<Millis> expect_wake(const State& state, Now now);

}  // namespace rota::master::core
