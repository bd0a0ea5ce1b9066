// Whether an attempt uses more than its job allows. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/model/job.h"
#include "worker/warden/wire.h"

namespace rota::worker::run {

/// What everything that an attempt started uses, together, at one look.
struct SetUsage {
  std::int64_t memory_bytes = 0;  ///< proportional
  std::int64_t processes = 0;
  Millis cpu{0};
  std::int64_t folder_bytes = 0;
};

/// The first limit that is passed: memory, processes, CPU time, folder.
struct Excess {
  warden::KilledBy by = warden::KilledBy::None;
  std::string text;        ///< "used 70 MiB of memory, 64 MiB are allowed"
  bool is_wild = false;    ///< far beyond: no time to clean up is given
};
std::optional<Excess> excess_of(const model::JobLimits& limits, const SetUsage& usage);

/// Between two looks, when no limit is near.
inline constexpr Millis kUsualLookPause{250};

/// Limits that the kernel does not hold by itself, so that somebody must look.
bool needs_looks(const model::JobLimits& limits);

/// What the kernel is to hold an attempt to, where it can: so far beyond what is allowed that the worker's
/// own looks come first, and between two looks nothing grows without bounds. 0 stays 0: no limit.
std::int64_t kernels_bound(std::int64_t allowed);

/// How soon to look again: sooner when memory or processes come near.
Millis pause_before_next(const model::JobLimits& limits, const SetUsage& usage);

}  // namespace rota::worker::run
