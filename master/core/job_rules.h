// Saved jobs: created, edited, paused, resumed, deleted. Each change first records every tick of the
// old version up to now, in the same batch.
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

void handle_apply_job(Context& ctx, const ApplyJob& event);
void handle_set_paused(Context& ctx, const SetPaused& event);
void handle_delete_job(Context& ctx, const DeleteJob& event);
/// As a new version of the same job, from now on.
void handle_undelete_job(Context& ctx, const UndeleteJob& event);

/// Its rules with memory end the present version: at `tick`, which was the last one that fires, or now.
void pause_by_rules(Context& ctx, JobEntry& job, const std::string& why, std::optional<WallTime> tick);

/// The job of a one-off definition. When this Term does not know it, it is made, with its rows; that is
/// harmless when the rows exist already.
JobEntry& one_off_job(Context& ctx, const SubmitItem& item, const std::string& principal);

}  // namespace rota::master::core
