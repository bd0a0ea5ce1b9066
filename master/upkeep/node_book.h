// Puts looks at workers together: one row for each worker and each pool a minute, and what workers did since
// midnight. Pure: the shell looks, and stores the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/model/node_minute.h"
#include "master/core/snapshot.h"
#include "master/store/node_store.h"

namespace rota::master {

/// Of more workers, or pools, no minutes are noted: 24 hours of them are about 3 million rows.
inline constexpr std::size_t kWorkersNoted = 2000;
inline constexpr std::size_t kPoolsNoted = 200;
/// Figures that are older say nothing about this look.
inline constexpr Millis kFreshFigures{10'000};

/// The beginning of the minute, and of the day (UTC).
WallTime minute_of(WallTime moment);
WallTime day_of(WallTime moment);

/// Owner: NodeHistory. Thread: the owner's.
class NodeBook {
 public:
  /// A new Term: nothing of an earlier one is known here.
  void begin(WallTime now);
  /// What rows of today say of the time before this Term. Until then its counts are of this Term alone.
  void add_earlier(std::map<std::string, core::WorkerWork> today);
  bool knows_earlier() const { return knows_earlier_; }

  /// One look. Gives the rows of the minute before when another has begun.
  std::optional<store::MinuteRows> look(const core::Snapshot& snapshot, WallTime now);

  const std::map<std::string, core::WorkerWork>& today() const { return today_; }
  /// Since when they are counted.
  WallTime counted_from() const { return knows_earlier_ ? day_ : std::max(day_, began_); }
  /// Workers that were too many at the last look.
  std::size_t unnoted() const { return unnoted_; }

 private:
  struct Sums {
    std::int64_t cpu = 0, memory = 0, load = 0, running = 0;
  };
  struct WorkerPage {
    model::WorkerMinute row;
    Sums sums;
    core::WorkerWork before;  ///< the Term's counts when the minute began
    core::WorkerWork last;    ///< and now
  };
  struct PoolPage {
    model::PoolMinute row;
    std::int64_t slots = 0, used = 0;
  };
  struct Used {
    std::int32_t workers = 0;
    std::int64_t slots = 0, used = 0;
  };

  store::MinuteRows turn_page();
  void begin_day(WallTime day);
  void note_worker(const core::WorkerView& view, WallTime now);
  void note_pools(const core::Snapshot& snapshot);
  void note_pool(const std::string& pool, const Used& used);

  Epoch epoch_;
  WallTime began_{}, minute_{}, day_{};
  bool knows_earlier_ = false;
  std::size_t unnoted_ = 0;
  std::map<std::string, WorkerPage> workers_;
  std::map<std::string, PoolPage> pools_;
  std::map<std::string, core::WorkerWork> known_;  ///< the Term's counts at the last look, of who has any
  std::map<std::string, core::WorkerWork> today_;
};

}  // namespace rota::master
