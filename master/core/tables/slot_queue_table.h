// Runs that could start and wait for a slot of one pool, or of one named worker in it, and in which order
// they get theirs. Runs of one job stand in one line, the oldest first; so do the one-off runs that one
// caller asked for.
//
// Whose turn it is (turn_rules.h): of the namespace with the least running for its weight the line with the
// highest priority; it grows by 1 for each minute since the line last had a turn, so that nothing starves. Of
// equal ones the line with the fewest running, then the one whose last turn is longest ago, then the oldest
// run.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/run.h"
#include "master/core/tables/id_set.h"
#include "master/core/tables/run_table.h"
#include "master/core/tables/slot_queue_key.h"
#include "master/core/tables/walk.h"

namespace rota::master::core {

/// A job, by its id; or the one-off jobs of one priority that one caller asked for in one namespace, by a
/// negative number.
enum class LineId : std::int64_t {};
LineId line_of(const JobEntry& job);

/// A namespace with runs that wait or are held.
struct TurnSpace {
  std::string name;
  std::int64_t held = 0;               ///< slots that its runs take of workers
  std::int64_t weight = 1;
  std::int64_t last = 0;               ///< like Turn's
  std::size_t lines = 0;               ///< that wait

  /// What it has for its weight: the least is next.
  double share() const { return static_cast<double>(held) / static_cast<double>(weight); }
};

/// When a line's turn is, beside those of its namespace: the least is first.
struct Turn {
  std::int64_t rank = 0;               ///< the minute since which it waits, less its priority
  std::int64_t held = 0;               ///< slots that runs of the line take, of any queue
  std::int64_t last = 0;               ///< the number of its last turn; of a new one as if it just missed one
  RunId head;
  LineId line{};
  auto operator<=>(const Turn&) const = default;
};

/// One queue. It lives as long as a run waits in it.
class SlotQueue {
 public:
  struct Line {
    IdSet<RunId> runs;
    TurnSpace* space = nullptr;
    std::int64_t minute = 0;           ///< of its last turn, or of when it began to wait
    std::int64_t priority = 0;         ///< of its job as it is now
    Turn turn;
  };
  using Lines = std::map<LineId, Line>;
  using Turns = std::map<std::string_view, std::set<Turn>>;

  model::Reason blocked = model::Reason::None;  ///< why its runs wait

  bool empty() const { return lines_.empty(); }
  bool holds(const RunEntry& run) const;
  const Lines& lines() const { return lines_; }
  /// The turns of its lines, by namespace; none is empty.
  const Turns& turns() const { return turns_; }

 private:
  friend class SlotQueueTable;
  friend struct StateSurgery;          // tests break it on purpose
  void list(Line& line);
  void unlist(const Line& line);

  Lines lines_;
  Turns turns_;
};

/// Thread: the Scheduler's. State alone puts runs in and takes them out.
class SlotQueueTable {
 public:
  SlotQueue* find(const SlotQueueKey& key);
  const SlotQueue* find(const SlotQueueKey& key) const;
  /// Why a run that stands in its queue waits.
  model::Reason blocked(const RunEntry& run) const;
  std::vector<SlotQueueKey> of_pool(const std::string& pool) const;
  auto all() const { return walk(queues_); }
  /// Queues behind this one, in order.
  auto after(const SlotQueueKey& key) const { return Walk(queues_.upper_bound(key), queues_.end()); }
  /// Slots that runs of that line take of workers.
  std::int64_t held(LineId line) const;
  /// By name: those with runs that wait or are held.
  const std::map<std::string, TurnSpace>& spaces() const { return spaces_; }

 private:
  friend class State;
  friend struct StateSurgery;
  struct Standing {
    std::int64_t held = 0;
    std::vector<SlotQueue*> queues;    ///< in which the line waits
  };

  /// It waits since then, if its line is new.
  void enter(RunEntry& run, const SlotQueueKey& key, WallTime since);
  void leave(RunEntry& run);
  /// It is sent now: its line's next turn is later.
  void pass_turn(const RunEntry& run, WallTime at);
  /// A worker holds it from now on.
  void hold(const RunEntry& run);
  void release(const RunEntry& run);

  /// The job was edited.
  void set_priority(const JobEntry& job);
  void set_weight(const std::string& space, std::int64_t weight);

  void change_held(const RunEntry& run, std::int64_t by);
  void place(SlotQueue& queue, SlotQueue::Line& line);
  TurnSpace& space_of(const RunEntry& run);
  void drop_idle(const TurnSpace& space);

  std::map<SlotQueueKey, SlotQueue> queues_;    ///< none is empty
  std::unordered_map<std::int64_t, Standing> standing_;  ///< by LineId: of lines that wait or are held
  std::map<std::string, TurnSpace> spaces_;
  std::map<std::string, std::int64_t> weights_; ///< of namespaces, where it is not 1
  std::int64_t turns_ = 0;                      ///< how many there were
};

}  // namespace rota::master::core
