// Requests for runs: now, one-offs, cancel. Repeats with a known key give the same run.
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

void handle_run_now(Context& ctx, const RunNow& event);
void handle_submit_runs(Context& ctx, const SubmitRuns& event);
void handle_cancel_run(Context& ctx, const CancelRun& event);

}  // namespace rota::master::core
