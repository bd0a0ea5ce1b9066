// Lines for the leader's log that decisions ask for (Effects::notices).
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "master/core/state.h"

namespace rota::master::core {

using NoticeKeys = std::vector<std::pair<std::string_view, std::string>>;

/// Something that an operator did, or that happens every day. `sentence` and the names of keys are literals.
void tell(Context& ctx, std::string_view sentence, NoticeKeys keys);
/// Something that somebody should perhaps look at.
void warn(Context& ctx, std::string_view sentence, NoticeKeys keys);

/// "space/name" of the run's job, for a key.
std::string job_of(const State& state, const RunEntry& run);

}  // namespace rota::master::core
