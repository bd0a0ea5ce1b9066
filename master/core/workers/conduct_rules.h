// What follows from how a worker behaves (worker_state_rules.h says when): half of its share, exclusion with
// a trial after it, a pause for one that comes and goes, and letting a crowd in little by little. A hold is
// stored before it counts, and a new Term goes on with those in force. Half shares and what was counted so
// far begin anew with each Term.
#pragma once

#include <vector>

#include "master/core/state.h"

namespace rota::master::core {

/// An attempt of the run ended by itself on its worker: it succeeded, or it failed in a way that counts.
void note_success_there(Context& ctx, const RunEntry& run);
void note_failure_there(Context& ctx, const RunEntry& run);

/// A life has come after the first listing. It may have to wait, since it comes and goes, or since many come.
void note_life_here(Context& ctx, LifeEntry& life);
/// Its node is gone.
void note_life_lost(Context& ctx, const LifeEntry& life);
void let_in(Context& ctx, LifeEntry& life);

/// Something of its signs may have changed: whether it gets half of its share.
void judge_signs(Context& ctx, LifeEntry& life);

/// Settings by which workers are judged have changed.
void judge_all_anew(Context& ctx);
/// Holds last shorter from now on, also those that stand.
void shorten_holds(Context& ctx);

/// The time of its hold is over.
void end_hold_time(Context& ctx, const std::string& worker);
/// Workers of that pool have gone, or are drained: no more than a third of the rest is left out.
void keep_within_third(Context& ctx, const std::string& pool);
/// An operator has forgotten it.
void drop_hold(Context& ctx, const std::string& worker);

/// Holds that were in force at the end of the Term before.
void recover_holds(State& state, const std::vector<model::WorkerHold>& holds, Now now);
/// The first listing is here: this Term's rows of those holds.
void store_recovered_holds(Context& ctx);

}  // namespace rota::master::core
