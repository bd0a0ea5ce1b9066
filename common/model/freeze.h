// A freeze: for a while ticks do not fire. They become gaps, and are made up for when it ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace rota::model {

/// Runs that stand for frozen ticks have this principal and freeze_key() as request key, so that none is made
/// twice. No caller has this name.
inline constexpr const char* kFreezePrincipal = "rota.freeze";

/// The row `freeze`. It covers the ticks between `from` and end(), both not included.
struct Freeze {
  std::int64_t id = 0;
  std::string space;                   ///< empty: all namespaces
  WallTime from{};
  WallTime until{};
  std::optional<WallTime> ended;       ///< ended earlier than planned
  std::string principal;
  std::string why;
  JobId thawed;                        ///< the jobs up to this one are made up for
  bool done = false;                   ///< all of them are

  WallTime end() const { return ended.value_or(until); }
  bool covers(WallTime tick) const { return from < tick && tick < end(); }
  bool is_of(const std::string& job_space) const { return space.empty() || space == job_space; }
  bool operator==(const Freeze&) const = default;
};

inline std::string freeze_key(std::int64_t freeze, JobId job, WallTime tick) {
  return "freeze/" + std::to_string(freeze) + "/" + std::to_string(job.value) + "/" +
         std::to_string(to_ms(tick));
}

}  // namespace rota::model
