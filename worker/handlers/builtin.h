// The handlers that every worker has besides `command`.
#pragma once

#include "worker/sdk/registry.h"

namespace rota::worker::handlers {

/// `noop`: ends at once, successfully; for measuring what the scheduler itself costs.
/// `sleep`: parameter `for_ms` (default 1000, at most a day); ends early when cancelled.
/// `http`: one HTTP call, see http_handler.h.
Result<void> add_builtin(sdk::Registry& registry);

}  // namespace rota::worker::handlers
