// How many workers a pool should have, and who of them goes first: figures in, a number out. Pure;
// scale_desk.h beside it applies this.
//
// Minimum and maximum come before the load. Above the upper limit of the load more workers are wanted, below
// the lower one fewer; so many that the load would be in the middle. Runs that wait count as load. After a
// change the number does not fall before the cool-down is over; after it has risen it does not rise before.
// It may rise at once after it has fallen: a worker that drains is taken back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/time.h"
#include "common/model/scaling.h"

namespace rota::master::core {

/// What is there and what is asked of it.
struct PoolLoad {
  double demand = 0;               ///< slots in use and runs that wait, averaged; leaving workers aside
  bool is_idle = false;            ///< nothing runs and nothing waits now
  bool has_waiting = false;        ///< runs wait now
  std::int64_t slots = 0;          ///< of workers that accept attempts
  std::int64_t accepting = 0;      ///< such workers
  std::int64_t registering = 0;    ///< here, and have not said yet what they hold
  std::int64_t here = 0;           ///< all that are here, those that leave aside
  std::int64_t drained = 0;        ///< of them: by operators
  double per_worker = 0;           ///< slots of a worker when none accepts; 0: not known
};

struct ScaleLimits {
  std::int64_t least = 1, most = model::kMaxPoolWorkers;
  std::int32_t up_percent = 80, down_percent = 30;
  Millis cool_down{60'000};
};

/// The number in force.
struct ScaleBefore {
  std::int64_t wanted = 0;
  WallTime changed{};              ///< or when it was first looked at
  bool went_down = false;          ///< with that change; true also after a first look
  bool may_fall = true;            ///< this Term has seen enough of the load
};

struct ScaleWish {
  std::int64_t wanted = 0;
  model::ScaleReason reason = model::ScaleReason::Steady;
};

/// Slots of one worker of that pool; 0: not known.
double slots_per_worker(const PoolLoad& load);
/// Slots that the wanted workers have: those that are here as they are, the others as they should come.
double wanted_slots(const PoolLoad& load, std::int64_t wanted);

ScaleWish wish_for(const PoolLoad& load, const ScaleLimits& limits, const ScaleBefore& before, WallTime now);

/// The average after one more look, `passed` after the last one.
double averaged(double before, double now, Millis passed, Millis over);

/// A worker that might go.
struct ScaleCandidate {
  model::WorkerKey key;
  std::size_t running = 0;
  bool accepts = true;
  WallTime joined{};
};
/// The first `count` to go: those that get nothing anyway, then those with the least running, the newest
/// first.
std::vector<ScaleCandidate> who_goes(std::vector<ScaleCandidate> all, std::size_t count);

}  // namespace rota::master::core
