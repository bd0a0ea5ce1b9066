// From what the warden saw to the outcome that is reported. Pure.
#pragma once

#include "common/model/run.h"
#include "worker/warden/wire.h"

namespace rota::worker::run {

/// Final lengths of the attempt's streams in the log, and what was lost on the way.
struct OutputTotals {
  std::int64_t stdout_bytes = 0;
  std::int64_t stderr_bytes = 0;
  std::int64_t lost_bytes = 0;   ///< could not be kept (full disk), not counting the output cap
};

/// Who asked for the end decides first (timed out, killed, lost with its vouchers), then how the
/// process ended. Dead but not proven so is KillFailed, whatever else is known (P15).
model::Outcome outcome_of(const warden::Ended& ended, const OutputTotals& output);

}  // namespace rota::worker::run
