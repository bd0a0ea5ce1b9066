// What happens when an attempt ends, however the leader learns of it: by a report, by an inventory that
// does not name it, or by a fence that has passed.
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

/// How sure the leader is that the attempt is over.
enum class EndProof {
  Reported,    ///< the worker said how it ended
  Dead,        ///< it is proven dead, and left no outcome
  FencePassed, ///< nothing was heard of it; it must have ended by now
};

/// The run's present attempt is over. The run ends, or the retry rule or the loss policy gives another
/// attempt.
void end_attempt(Context& ctx, RunEntry& run, EndProof proof, const model::Outcome& outcome);

/// A worker names an attempt that the database has forgotten. Its number is not used again: its worker would
/// treat the next dispatch as a repeat, and the output of two attempts would mix. False when the number is
/// known, or cannot be that of an attempt of the run.
bool pass_forgotten(State& state, RunEntry& run, std::int32_t attempt);

/// An outcome that a worker holds, by report or inventory; harmless when repeated. A result of an
/// attempt that was given up before, or forgotten by a restored database, is kept as late.
void apply_outcome(Context& ctx, model::AttemptKey key, const model::WorkerKey& accepted_by,
                  const model::Outcome& outcome);

void handle_reported(Context& ctx, const Reported& event);

/// A run's delay after a failed attempt is over.
void end_retry_delay(Context& ctx, RunEntry& run);

}  // namespace rota::master::core
