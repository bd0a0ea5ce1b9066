// What is known of each pool's wanted number of workers, the call of its hook that is on its way, and workers
// that drain because fewer are wanted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/base/time.h"
#include "common/model/scaling.h"

namespace rota::master::core {

/// Who drains workers for this, as people are told.
inline constexpr const char* kAutoscaler = "rota autoscale";

struct PoolScale {
  bool is_known = false;               ///< this Term has looked at it; the rest says something
  bool is_scaled = false;              ///< at its last look somebody had set a limit or a hook
  std::int64_t wanted = 0;
  model::ScaleReason reason = model::ScaleReason::Unknown;  ///< why it is, or stays, that number
  WallTime changed{};                  ///< or when it was first looked at
  bool went_down = true;               ///< with that change
  double demand = 0;                   ///< averaged slots
  double load = 0;                     ///< of the slots that are there; 0: there are none
  double per_worker = 0;               ///< slots, as they were last seen; 0: not known
  std::int64_t here = 0;               ///< workers that do not leave
  std::int64_t leaving = 0;            ///< workers that drain since fewer are wanted
  MonoTime looked{};
  MonoTime may_fall{};                 ///< not before: a Term's first figures are no average
  std::optional<model::ScaleChange> newest;  ///< its last row
  std::optional<model::ScaleChange> flying;  ///< the row whose call is on its way
  MonoTime due{};                      ///< when newest may be tried
};

struct LeavingWorker {
  std::string pool;                    ///< empty: not known yet
  std::optional<model::WorkerKey> named;  ///< the hook may stop this life
};

/// Thread: the Scheduler's.
class ScaleTable {
 public:
  std::map<std::string, PoolScale>& pools() { return pools_; }
  const std::map<std::string, PoolScale>& pools() const { return pools_; }
  std::map<std::string, LeavingWorker>& leaving() { return leaving_; }
  const std::map<std::string, LeavingWorker>& leaving() const { return leaving_; }

  bool is_wanted = false;              ///< somebody has set a limit or a hook of a pool, or workers leave

  /// True when it is time for another look.
  bool look_due(MonoTime now, Millis every) {
    if (looked_ && now - *looked_ < every) return false;
    looked_ = now;
    return true;
  }
  std::optional<MonoTime> looked() const { return looked_; }
  /// True now and then: at most once in that time.
  bool forget_due(MonoTime now, Millis every) {
    if (forgotten_ && now - *forgotten_ < every) return false;
    forgotten_ = now;
    return true;
  }

 private:
  std::map<std::string, PoolScale> pools_;
  std::map<std::string, LeavingWorker> leaving_;  ///< by worker id
  std::optional<MonoTime> looked_, forgotten_;
};

}  // namespace rota::master::core
