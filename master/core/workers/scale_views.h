// What people are shown of the wanted numbers of workers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/model/scaling.h"

namespace rota::master::core {

struct ScaleView {
  std::string pool;
  std::int64_t wanted = 0;
  model::ScaleReason reason = model::ScaleReason::Unknown;
  std::int64_t here = 0;                ///< workers, those that leave aside
  std::int64_t leaving = 0;             ///< that drain since fewer are wanted
  double load = 0;                      ///< averaged, of the slots that are there
  double demand = 0;                    ///< averaged, in slots
  std::int64_t min_workers = 0, max_workers = 0;
  bool is_scaled = false;               ///< somebody has set a limit or a hook
  std::string hook;
  WallTime changed{};
  std::optional<model::ScaleChange> newest;
  std::vector<std::string> stoppable = {};  ///< ids of workers that the hook may stop
};

class State;

/// By name; at most 10,000.
std::vector<ScaleView> scale_views(const State& state);

}  // namespace rota::master::core
