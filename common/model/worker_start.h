// One start of a worker: of its warden, so that a lost session, or a worker proper that is started again, is
// none. Jobs with an entry `@worker_start` fire once for each.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace rota::model {

/// Runs of worker starts have this principal and start_key() as request key, so that none is made twice. No
/// caller has this name.
inline constexpr const char* kStartPrincipal = "rota.worker_start";

/// Names a start. `start` is random, and nobody else's.
struct StartKey {
  std::string worker;
  std::string start;
  auto operator<=>(const StartKey&) const = default;
};

/// The row `worker_start`: a leader has accepted it, and made the runs of it in the same transaction.
struct WorkerStart {
  StartKey key;
  std::string home;                    ///< its state folder, which one start has at a time
  std::string pool;
  WallTime accepted{};                 ///< the logical time of its runs
  std::int64_t number = 0;             ///< of later ones it is higher
  bool operator==(const WorkerStart&) const = default;
};

inline std::string start_key(JobId job, const StartKey& of) {
  return "start/" + std::to_string(job.value) + "/" + of.start + "/" + of.worker;
}

/// The start that a start_key() names; empty for any other text.
inline std::optional<StartKey> start_in(std::string_view request_key) {
  constexpr std::string_view kBegin = "start/";
  if (!request_key.starts_with(kBegin)) return std::nullopt;
  const auto start = request_key.find('/', kBegin.size());
  if (start == std::string_view::npos) return std::nullopt;
  const auto worker = request_key.find('/', start + 1);
  if (worker == std::string_view::npos) return std::nullopt;
  return StartKey{std::string(request_key.substr(worker + 1)),
                  std::string(request_key.substr(start + 1, worker - start - 1))};
}

}  // namespace rota::model
