// When each run must be looked at again. Nearly every run sets a timer and clears it a moment later, so the
// moments stand in a hash table, and the order in a heap that drops cleared ones when they come up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace rota::master::core {

enum class RunTimer { RetryDelay, DispatchRetry, Fence, LazyWrite, Backstop, CancelRepeat, Limit, Prefer };

/// Each run has at most one timer of each kind. Thread: the Scheduler's.
class RunTimers {
 public:
  /// Sets, or moves, the timer.
  void set(RunId run, RunTimer kind, MonoTime at);
  void clear(RunId run, RunTimer kind);
  void clear_all(RunId run);
  bool has(RunId run, RunTimer kind) const { return find(key_of(run, kind)) != nullptr; }
  std::optional<MonoTime> first() const;
  /// Takes the first timer out if it is due: in the order of moments, then of runs, then of kinds.
  std::optional<std::pair<RunId, RunTimer>> pop_due(MonoTime now);
  bool empty() const { return live_ == 0; }

 private:
  using Key = std::uint64_t;           ///< run and kind; 0: an empty place
  struct Place {
    Key key = 0;
    MonoTime at{};
  };
  using Planned = std::tuple<MonoTime, RunId, RunTimer>;

  static Key key_of(RunId run, RunTimer kind) {
    return (static_cast<Key>(run.value) << 4) + static_cast<Key>(kind) + 1;
  }
  std::size_t home_of(Key key) const;
  const Place* find(Key key) const;
  void erase(Key key);
  void grow();
  bool is_cleared(const Planned& planned) const;
  void drop_cleared();

  std::vector<Place> places_;          ///< a power of two of them, at most half of them full
  std::size_t live_ = 0;
  std::vector<Planned> heap_;          ///< the first on top; the top is never a cleared one
};

}  // namespace rota::master::core
