// A run begins its life: of a tick, by hand, or submitted. It is queued, waits behind another run of its
// job, or does not fire at all.
#pragma once

#include "common/base/caller.h"
#include "master/core/admission/overlap.h"
#include "master/core/state.h"

namespace rota::master::core {

struct Firing {
  model::RunKind kind = model::RunKind::Tick;
  std::optional<WallTime> tick;
  WallTime scheduled{};
  WallTime not_before{};               ///< its schedule spreads the start up to there
  bool is_late = false;                ///< it waits to be caught up, whatever the overlap says
  const model::StartKey* start = nullptr;  ///< RunKind::WorkerStart: where alone it may run
  const model::Parentage* parentage = nullptr;  ///< RunKind::Child: where it stands in its tree
  std::string_view skipped_for = {};   ///< choice Skip: why, instead of the run in its way
  // They stay as long as the request that they are of.
  std::string_view principal = kEveryone;  ///< a tick that nobody asked for is everyone's
  std::string_view request_key, request_hash;
  std::shared_ptr<const model::Parameters> parameters;
};

/// What the job's overlap says to one more run of this kind. One-offs never exclude each other.
OverlapChoice overlap_of(const State& state, const JobEntry& job, model::RunKind kind);

/// The run that a new one would overlap with: the oldest unfinished one that waits for none; 0: none.
RunId blocking_run(const JobEntry& job);

/// To its slot queue; or, while its schedule spreads the start up to a later moment, to wait for that.
void let_start(State& state, RunEntry& run, WallTime not_before, MonoTime now);

/// Makes the run, by `choice`: in its queue, behind another, or (never for a tick) as skipped.
RunId begin_run(Context& ctx, JobEntry& job, const Firing& firing, const OverlapChoice& choice);

}  // namespace rota::master::core
