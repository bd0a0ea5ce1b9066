#include "worker/run/limit_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/duration_text.h"

namespace rota::worker::run {

namespace {

constexpr Millis kPauseNearLimit{50};

/// Rounded up, so that what exceeds a limit never reads as equal to it.
std::string mib(std::int64_t bytes) {
  return fmt::format("{} MiB", (bytes + (1 << 20) - 1) >> 20);
}

/// Half as much again as allowed.
bool is_far_beyond(std::int64_t used, std::int64_t allowed) { return used - allowed > allowed / 2; }

}  // namespace

std::optional<Excess> excess_of(const model::JobLimits& limits, const SetUsage& usage) {
  using warden::KilledBy;
  if (limits.memory_bytes > 0 && usage.memory_bytes > limits.memory_bytes) {
    return Excess{KilledBy::Memory,
                  fmt::format("used {} of memory, {} are allowed", mib(usage.memory_bytes),
                              mib(limits.memory_bytes)),
                  is_far_beyond(usage.memory_bytes, limits.memory_bytes)};
  }
  if (limits.processes > 0 && usage.processes > limits.processes) {
    return Excess{KilledBy::Processes,
                  fmt::format("had {} processes, {} are allowed", usage.processes, limits.processes),
                  is_far_beyond(usage.processes, limits.processes)};
  }
  if (limits.cpu > Millis{0} && usage.cpu > limits.cpu) {
    return Excess{KilledBy::Cpu,
                  fmt::format("used {} of CPU time, {} are allowed", format_duration(usage.cpu),
                              format_duration(limits.cpu)),
                  false};
  }
  if (limits.folder_bytes > 0 && usage.folder_bytes > limits.folder_bytes) {
    return Excess{KilledBy::Folder,
                  fmt::format("put {} into its work folder, {} are allowed",
                              mib(usage.folder_bytes), mib(limits.folder_bytes)),
                  is_far_beyond(usage.folder_bytes, limits.folder_bytes)};
  }
  return std::nullopt;
}

bool needs_looks(const model::JobLimits& limits) {
  return limits.memory_bytes > 0 || limits.processes > 0 || limits.cpu > Millis{0} ||
         limits.folder_bytes > 0;
}

std::int64_t kernels_bound(std::int64_t allowed) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  return allowed <= 0 ? 0 : std::min(allowed, kMost) + std::min(allowed, kMost) / 2 + 1;
}

Millis pause_before_next(const model::JobLimits& limits, const SetUsage& usage) {
  const bool is_near = (limits.memory_bytes > 0 && usage.memory_bytes > limits.memory_bytes / 2) ||
                       (limits.processes > 0 && usage.processes > limits.processes / 2);
  return is_near ? kPauseNearLimit : kUsualLookPause;
}

}  // namespace rota::worker::run
