// What people are shown of semaphores that are in use: who holds tokens, and who waits in which order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "master/core/tables/slot_queue_key.h"

namespace rota::master::core {

struct SemaphoreView {
  struct Holder {
    RunId run;
    std::string job;
    std::int32_t tokens = 0;
    std::string worker;
    WallTime since{};
  };
  struct Line {
    RunId next;
    std::string job;
    std::int32_t tokens = 0;           ///< of each of its runs
    std::int64_t runs = 0;
  };
  SemaphoreName name;
  std::int64_t held = 0;               ///< tokens
  std::int64_t waiting = 0;            ///< runs
  std::vector<Holder> holders;         ///< the oldest 100
  std::vector<Line> lines;             ///< in the order of their turns; the first 100
};

class State;

/// By name, those that runs hold or wait for; at most 1,000.
std::vector<SemaphoreView> semaphores_in_use(const State& state);

}  // namespace rota::master::core
