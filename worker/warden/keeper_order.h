// What a keeper that has proven its set empty is told to start next: one packet over a socket pair of its
// own, with the descriptors of the new process beside it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/base/unique_fd.h"
#include "worker/warden/process_start.h"

namespace rota::worker::warden {

struct KeeperOrder {
  std::uint64_t serial = 0;          ///< the warden's number of the attempt
  Millis disconnect_grace{0};
  ProcessPlan plan;                  ///< its descriptors are those of `descriptors`
  std::vector<UniqueFd> descriptors;
};

/// Sends without waiting; the descriptors that the plan names are lent. Unavailable: the keeper is gone.
Result<void> send_order(int socket, std::uint64_t serial, Millis disconnect_grace, const ProcessPlan& plan);

/// Waits for the next one. Nothing: the warden has let go of this keeper, or what came cannot be read.
std::optional<KeeperOrder> await_order(int socket);

}  // namespace rota::worker::warden
