// Turns the readings of a self check into "ok", "starting", or "degraded" with every reason. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/host/reading.h"

namespace rota::host {

/// Beyond these limits there is a problem. Disk: below the bytes, or below the percentage while less than
/// disk_free_enough is left (5 % of a large disk is plenty).
struct CheckLimits {
  std::int64_t disk_free_least_bytes = 256ll << 20;
  std::int64_t disk_free_least_percent = 5;
  std::int64_t disk_free_enough_bytes = 5ll << 30;
  std::int64_t memory_available_least_percent = 5;
  std::int64_t descriptors_most_percent = 80;
  std::int64_t backlog_most_percent = 80;
};

/// One line each. `folder` names the disk.
std::vector<std::string> host_troubles(const HostReading& host, const ProcessReading& process,
                                       const std::string& folder, const CheckLimits& limits = {});

/// A queue that is nearly full: "backlog: outbox 90 % full (240 of 256 MiB)". Empty: none.
std::string backlog_trouble(const std::string& what, std::int64_t held, std::int64_t most,
                            const CheckLimits& limits = {});

/// For this time, what a start must wait for is not a problem.
inline constexpr Millis kStartTime{10'000};

/// "ok", or "degraded: a; b". `awaited`: what the process still waits for, `up` after its start. Without
/// other troubles the verdict is "starting: a; b" at first; after kStartTime it counts as trouble.
std::string verdict_of(const std::vector<std::string>& troubles,
                       const std::vector<std::string>& awaited = {}, Millis up = Millis{0});

}  // namespace rota::host
