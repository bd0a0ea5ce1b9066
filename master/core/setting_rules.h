// A setting gets another value while the cluster runs. The change is stored in the batch that decides it.
// All decisions behind it go by the new value, and what was planned by the old one (a turn of late ticks, a
// hold, what is kept of workers that are gone) is planned anew at once. Its words leave when it is stored;
// so do the new values for the parts of this master beside the core (Changes::settings,
// LoopParts::settings).
#pragma once

#include <vector>

#include "master/core/event.h"
#include "master/core/state.h"

namespace rota::master::core {

/// Conflict: `expected_version` is not the newest. InvalidArgument: the value does not go with others.
void handle_set_setting(Context& ctx, const SetSetting& event);

/// What was set before this Term, before anything else is recovered.
void recover_settings(State& state, std::vector<model::SettingRow> rows);

}  // namespace rota::master::core
