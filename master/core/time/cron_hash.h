// What is spread by a hash of the job: the H of a cron, and jitter. The same on
// every machine and after every restore, since it hangs on the job's name
// alone. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/time.h"

namespace rota::master::core {

/// Of a job, by its namespace and name.
std::uint64_t job_hash(std::string_view space, std::string_view name);

/// A number from 0 to `size` - 1; another one for another `use`.
std::int64_t spread(std::uint64_t hash, std::string_view use, std::int64_t size);

/// How much later than its tick a job starts: from 0 to `most`, always the
/// same.
inline Millis jitter_of(std::uint64_t hash, Millis most) {
  return Millis{spread(hash, "jitter", most.count() + 1)};
}

}  // namespace rota::master::core
