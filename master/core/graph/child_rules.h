// Child jobs (on_success, on_failure, on_end). When a run ends for good, a run of each job begins that the
// version in force at its start names for such an end: decided and stored in the batch of the end. Where more
// begin than one batch takes (CoreOptions::children_at_most), the rest is stored as owed, and begins in the
// next turns, whoever leads then.
//
//   how the run ended                         on_success  on_failure  on_end
//   succeeded                                     x                      x
//   failed, timed_out, lost, kill_failed                      x          x
//   cancelled, killed                                                    x
//   skipped
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/model/child.h"
#include "master/core/state.h"

namespace rota::master::core {

/// Which of the names count when a run ends so. Pure.
std::vector<model::NamedChild> children_after(const model::JobRules& rules, model::RunState ended);

/// Its children are owed. They begin with make_children.
void owe_children(Context& ctx, const RunEntry& run);

/// As many as this batch takes begin.
void make_children(Context& ctx);
/// What is left of this event's is stored, for the next turns.
void store_owed_children(Context& ctx);

/// Why a job that names these is not accepted: one is unknown, or they make a circle. `before`: the stored
/// version; null: there is none, or it is deleted.
std::optional<Error> why_no_children(const State& state, const model::JobDefinition& definition,
                                     const JobEntry* before);

/// "a, b and 3 more": the jobs that name this one; empty: none does.
std::string named_by(const State& state, const std::string& space, const std::string& name);

}  // namespace rota::master::core
