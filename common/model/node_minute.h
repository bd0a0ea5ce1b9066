// What a worker, or a pool of workers, did in one minute: figures of every few seconds in one row, for
// people. Nothing is decided by these rows, and one that is missing is a minute that nobody knows.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace rota::model {

inline constexpr Millis kMinute{60'000};

/// The row `worker_minute`. A minute in which the leader changed has one of each leader.
struct WorkerMinute {
  std::string worker;
  WallTime minute{};                     ///< its beginning
  Epoch epoch;                           ///< of the leader that looked
  std::string pool;
  std::string state;                     ///< at the last look
  std::int32_t looks = 0;                ///< at which the worker was here
  std::int32_t samples = 0;              ///< of them, with fresh figures; 0: the next six say nothing
  std::int32_t cpu_percent = 0;          ///< average, as the next two
  std::int32_t memory_percent = 0;
  std::int32_t load_percent = 0;
  std::int32_t cpu_most_percent = 0;
  std::int64_t disk_free_bytes = 0;      ///< the least
  std::int32_t threads = 0;              ///< the most
  std::int32_t slots = 0;                ///< the most
  std::int32_t running_hundredths = 0;   ///< attempts, the average
  std::int64_t scheduled = 0;            ///< attempts that it was given
  std::int64_t succeeded = 0, failed = 0;
  bool operator==(const WorkerMinute&) const = default;
};

/// The row `pool_minute`, of workers that get runs.
struct PoolMinute {
  std::string pool;                      ///< empty: all pools
  WallTime minute{};
  Epoch epoch;
  std::int32_t looks = 0;
  std::int32_t workers = 0;              ///< the most
  std::int64_t slots_hundredths = 0;     ///< the average, as the next one; the limit of the pool counts
  std::int64_t used_hundredths = 0;
  std::int64_t used_most = 0;
  bool operator==(const PoolMinute&) const = default;
};

}  // namespace rota::model
