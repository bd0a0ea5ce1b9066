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
/// `excess`: which limit was passed, for an end that a limit brought. The message ends with the steps of
/// the kill ladder that were taken, counted from the start.
model::Outcome outcome_of(const warden::Ended& ended, const OutputTotals& output,
                          const std::string& excess = {});

}  // namespace rota::worker::run
