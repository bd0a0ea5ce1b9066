// What a restored database may hold: a run of a job that it does not have. A leader from before, which still
// led for a moment, stored the run; the job's row was among what the database lost. Nobody can tell any more
// what the run was to do. Pure, except for its line in the log.
#pragma once

#include "master/core/recovered.h"

namespace rota::master::store {

/// Leaves such runs out, names them in the log, and says that the database went back, so that ticks are held
/// until an operator has looked. Their rows stay as they are.
/// `recovered`'s jobs are ordered by id.
void leave_out_runs_without_job(core::Recovered& recovered);

}  // namespace rota::master::store
