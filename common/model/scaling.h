// The wanted number of workers of a pool: each change of it is stored before the pool's hook is called with
// it, and called until the hook has accepted it, or too often.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/worker.h"

namespace rota::model {

/// Hooks of one cluster, bytes of a hook's name, and workers that a pool may be told to have.
inline constexpr std::size_t kMaxHooks = 16;
inline constexpr std::size_t kMaxHookName = 64;
inline constexpr std::int64_t kMaxPoolWorkers = 10'000;
/// Of a call: workers that it names at most.
inline constexpr std::size_t kMaxStoppable = 100;

/// Why that number is wanted, or why it stays. Stored by name.
enum class ScaleReason {
  Steady,      ///< the load is between both limits
  Load,        ///< the average load is beyond a limit
  Queue,       ///< runs wait, and there is no worker
  Minimum,     ///< fewer are not allowed
  Maximum,     ///< more are not allowed
  CoolDown,    ///< the load asks for another number, and the last change is not long ago
  Hook,        ///< the pool's hook is another one: it learns the number
  Drained,     ///< workers have drained and may be stopped
  WorkerDead,  ///< a worker is dead: the number stays, and one worker less is there
  Unknown      ///< nobody knows yet what the workers of the pool can do
};
inline constexpr std::array<std::string_view, 10> kScaleReasons = {
    "steady",    "load", "queue",   "minimum",     "maximum",
    "cool_down", "hook", "drained", "worker_dead", "unknown"};
static_assert(kScaleReasons.size() == static_cast<std::size_t>(ScaleReason::Unknown) + 1);
inline std::string_view name_of(ScaleReason reason) {
  return kScaleReasons.at(static_cast<std::size_t>(reason));
}
inline std::optional<ScaleReason> scale_reason_named(std::string_view name) {
  for (std::size_t i = 0; i < kScaleReasons.size(); ++i) {
    if (kScaleReasons[i] == name) return static_cast<ScaleReason>(i);
  }
  return std::nullopt;
}

/// How far the call of a hook is. Only Open is not settled.
enum class HookState {
  Open,       ///< it is called until it accepts
  Delivered,  ///< it has accepted
  GivenUp,    ///< it was called too often
  Replaced,   ///< a later row of the pool says what counts now
  NoHook      ///< the pool has none: the number is only shown
};
inline constexpr std::array<std::string_view, 5> kHookStates = {"open", "delivered", "given_up", "replaced",
                                                                "no_hook"};
inline std::string_view name_of(HookState state) { return kHookStates.at(static_cast<std::size_t>(state)); }
inline std::optional<HookState> hook_state_named(std::string_view name) {
  for (std::size_t i = 0; i < kHookStates.size(); ++i) {
    if (kHookStates[i] == name) return static_cast<HookState>(i);
  }
  return std::nullopt;
}

/// The row `scale_change`.
struct ScaleChange {
  std::int64_t id = 0;  ///< the call's sequence number: higher in later rows; names its Term like a run's id
  std::string pool;
  std::int64_t before = 0, after = 0;  ///< wanted workers
  std::int64_t present = 0;            ///< workers that are here, those that leave aside
  std::int64_t leaving = 0;            ///< that drain and may not be stopped yet
  ScaleReason reason = ScaleReason::Steady;
  std::string hook;                    ///< empty: the pool has none
  std::vector<WorkerKey> stoppable;    ///< drained, nothing runs there: the hook may stop them
  WallTime made{};                     ///< core time
  HookState state = HookState::Open;
  std::int32_t attempts = 0;           ///< calls that ended
  std::optional<WallTime> settled;
  std::string last_error;              ///< of the last call; at most 300 bytes
  bool operator==(const ScaleChange&) const = default;
};
inline constexpr std::size_t kMaxHookError = 300;
/// Workers that should exist once the stoppable ones are stopped: those that still drain are among them.
inline std::int64_t workers_to_keep(const ScaleChange& row) {
  return std::max(row.after, row.present + row.leaving);
}

}  // namespace rota::model
