// What people are shown of the lines in which runs wait for slots: enough to tell how many would start before
// one run. Published with the snapshot, bounded; the counting itself (master/api/place_rules.h) is done by
// who asks, not by the loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace rota::master::core {

class SlotQueue;
struct SlotQueueKey;
class RunEntry;
class State;

/// A line of one slot queue, with its next turn as slot_queue_table.h has it.
struct LineView {
  std::int64_t line = 0;               ///< LineId: the same in other queues of the pool
  std::string pool, space;
  std::int64_t runs = 0;               ///< that wait in it
  std::int64_t rank = 0, held = 0, last = 0;
  RunId head;
  std::int64_t priority = 0;
  std::int64_t slots = 1;              ///< that each of its runs takes
};

/// A namespace with runs that wait or are held, over all pools.
struct SpaceTurnView {
  std::string name;
  std::int64_t held = 0, weight = 1, last = 0;
  bool is_full = false;                ///< it holds as many as it may, and has no turn
};

struct LinesView {
  std::vector<LineView> lines;         ///< by pool; the first kMostLineViews
  std::vector<SpaceTurnView> spaces;   ///< of these lines
  bool is_whole = true;                ///< there are no more lines
};

/// So many lines are shown: a snapshot costs no more, however many jobs wait.
inline constexpr std::size_t kMostLineViews = 5000;

/// Where one run stands: in that line of LinesView, behind so many older runs of it. -1: in none of them.
struct PlaceView {
  std::int32_t line = -1;
  std::int64_t before = 0;
};

/// Makes a LinesView, and then tells the place of each waiting run. Thread: one; the state does not change
/// meanwhile.
class LineViews {
 public:
  explicit LineViews(const State& state);
  /// The runs come in the order of their ids, from the oldest on, none is left out.
  PlaceView next(const RunEntry& run);
  LinesView take() { return std::move(view_); }

 private:
  void add_queue(const SlotQueueKey& key, const SlotQueue& queue);
  void add_spaces(const State& state);

  LinesView view_;
  std::vector<std::int64_t> passed_;   ///< runs of each line that were seen
  std::vector<std::pair<std::pair<const SlotQueue*, std::int64_t>, std::int32_t>> places_;  ///< sorted
};

}  // namespace rota::master::core
