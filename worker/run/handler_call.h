// The one place where what a handler throws becomes a result.
#pragma once

#include "worker/sdk/handler.h"

namespace rota::worker::run {

/// Runs the handler to its end on the calling thread.
Result<void> call_handler(sdk::Handler& handler, sdk::Context& context);

/// InvalidArgument when a value is longer than the 64 KiB that `what` may have.
Result<void> check_value(const char* what, std::size_t bytes);

/// What Context::lock does, in the name of the context's run. `locks` may be null.
Result<std::unique_ptr<sdk::HeldLock>> acquire_lock(sdk::LockService* locks, sdk::Context& context,
                                                 const std::string& name, Millis at_most);

/// Writes all of it, waiting for a reader who is slow; gives up when there is none.
void write_all(int fd, std::string_view bytes);

/// Longest message of a failure.
inline constexpr std::size_t kMaxHandlerMessage = 4096;

}  // namespace rota::worker::run
