// The handler `http`: one call for each run. Parameters: see common/model/http_call.h.
#pragma once

#include <memory>

#include "worker/handlers/http_client.h"
#include "worker/sdk/handler.h"

namespace rota::worker::handlers {

/// The call names its run, so that the server can refuse a repeat: Idempotency-Key (the run's own;
/// the same for each attempt), Rota-Run, Rota-Attempt, Rota-Epoch, and for ticks Rota-Tick-Ms. A header of
/// the same name in the job replaces it. The body of the answer goes to standard output, its head to
/// standard error; a body of at most 64 KiB is also the run's result value.
std::unique_ptr<sdk::Handler> make_http_handler(std::unique_ptr<HttpClient> client);

}  // namespace rota::worker::handlers
