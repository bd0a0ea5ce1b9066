// A run's way as moments in their order, attempt by attempt, with the time between. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "job_types.h"

namespace rota::client {

struct TimelineRow {
  std::int32_t attempt = 0;            ///< 0: of the run
  std::string what;  ///< "due", "decided", "queued", "sent", "accepted", "started", "ended", "recorded"
  std::optional<std::int64_t> at_ms;   ///< empty: not known
  std::optional<std::int64_t> after_ms;  ///< since the moment before it that is known; empty: there is none
  std::string note;                    ///< by whose clock, where, or why it is not known
};

/// Moments of a worker are by the worker's clock, all others by the leader's: the time between two clocks may
/// be wrong by their difference, and even negative.
std::vector<TimelineRow> timeline_of(const thrift::RunDetail& detail);

}  // namespace rota::client
