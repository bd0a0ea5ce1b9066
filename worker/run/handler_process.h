// The other end of `isolation: process`: this program, started once more by the warden to run one handler
// for one attempt. It finds its run's facts in the file that ROTA_FACTS_FILE names, writes to 1 and 2,
// tells progress, checkpoint and result on ROTA_FD as any command may, and treats TERM as a cancellation.
// Whatever it does to its own process, the worker and its other attempts go on.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "worker/sdk/registry.h"

namespace rota::worker::run {

/// Exit status of a handler that failed; its message went before it.
inline constexpr int kHandlerFailed = 1;
/// Of a process that was not started by a worker, or for a handler that is not there.
inline constexpr int kNoHandlerRun = 2;

using LockMaker = std::function<std::unique_ptr<sdk::LockService>(const sdk::LockAddress&)>;

/// Runs it to its end; the exit status for main. Thread: main's, once. `make_locks` may give null.
int run_handler_process(const sdk::Registry& registry, const std::string& handler,
                        const LockMaker& make_locks);

}  // namespace rota::worker::run
