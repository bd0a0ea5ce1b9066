// Turns what was touched by one event into rows of the batch, each run at most once.
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

/// Writes the rows of all touched runs, forgets those that are final, and adds the watermark when the
/// batch is written anyway.
void write_touched(Context& ctx);

/// The job's row as it is now.
void write_job(Context& ctx, const JobEntry& job);

/// Answers a token once the batch is stored; nothing for token 0.
void reply(Context& ctx, Token token, ReplyBody body);

}  // namespace rota::master::core
