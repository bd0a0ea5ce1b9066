// What only the leader knows, published by its loop at most every 100 ms for queries. Immutable.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/histogram.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/day_text.h"
#include "common/model/freeze.h"
#include "common/model/run.h"
#include "common/model/worker.h"
#include "master/core/admission/line_views.h"
#include "master/core/admission/quota_views.h"
#include "common/model/worker_hold.h"
#include "master/core/admission/semaphore_views.h"
#include "master/core/shared_info.h"
#include "master/core/workers/scale_views.h"
#include "master/core/workers/worker_state_rules.h"
#include "master/core/tables/work_table.h"

namespace rota::master::core {

/// So many of the runs that a worker, a pool or a namespace holds are named.
inline constexpr std::size_t kHeldTold = 10;

struct WorkerView {
  SharedInfo info;                       ///< its vitals aside, which change all the time
  std::optional<model::WorkerVitals> vitals;
  /// "registering", "online", "busy", "warning", "draining", "excluded", "flapping", "offline" or "dead"
  std::string state;
  std::string why;
  std::int32_t running = 0;              ///< attempts stored for it and not ended
  std::int32_t used_slots = 0;           ///< that they take
  model::Amounts used = {};              ///< of what it offers
  std::int64_t dispatched_total = 0;
  std::optional<model::WorkerDrain> drain;  ///< an operator drains it
  std::optional<WallTime> left;          ///< offline: since when
  std::optional<WallTime> silent_since;  ///< its node is there, and it does not answer
  std::optional<WallTime> fence;         ///< offline or silent, with attempts: when others may follow these
  std::shared_ptr<const std::vector<model::AttemptUsage>> usage;
  std::string warning = {};              ///< why it gets half of its share
  std::optional<model::WorkerHold> hold = {};      ///< why it gets nothing, or one attempt at a time
  std::optional<Millis> clock_offset = {};         ///< its clock less the leader's
  AwayBands bands = {};                  ///< by which people are told how long it is away
  std::optional<WallTime> heard = {};    ///< when it last renewed, or answered hello
  WorkerWork work = {};                  ///< since this Term began
  WorkerShare share = {};                ///< of the last runs of its pool
  std::vector<RunId> holds = {};         ///< runs whose attempts it has; the oldest kHeldTold
};

/// It is not here any more.
inline bool is_away(const WorkerView& worker) { return worker.state == "offline" || worker.state == "dead"; }
/// It gets attempts, if it has slots.
inline bool gets_work(const WorkerView& worker) {
  return worker.state == "online" || worker.state == "busy" || worker.state == "warning";
}

struct RunView {
  model::RunState state = model::RunState::Waiting;
  model::Reason reason = model::Reason::None;
  std::string detail;
  bool is_cancelled = false;
  std::int32_t losses = 0;               ///< with its workers, so far
  std::string worker = {};               ///< of the attempt that is held; else empty
  std::optional<WallTime> away_since = {};  ///< that worker does not answer, or its node is gone
  std::optional<WallTime> fence = {};    ///< when another attempt may follow; a guess while its node is there
  PlaceView place = {};                  ///< while it waits for a slot
};

/// Views of runs in the order of their ids.
class RunViews {
 public:
  using Entry = std::pair<RunId, RunView>;

  std::size_t size() const { return entries_.size(); }
  /// It is not in it, and its id is the highest, or arrange() follows.
  void add(RunId id, RunView view) { entries_.emplace_back(id, std::move(view)); }
  void arrange() {
    const auto is_before = [](const Entry& a, const Entry& b) { return a.first < b.first; };
    std::sort(entries_.begin(), entries_.end(), is_before);
  }
  void reserve(std::size_t size) { entries_.reserve(size); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  auto find(RunId id) const {
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), id,
                                     [](const Entry& entry, RunId key) { return entry.first < key; });
    return at == entries_.end() || at->first != id ? entries_.end() : at;
  }
  bool contains(RunId id) const { return find(id) != end(); }

 private:
  std::vector<Entry> entries_;
};

/// Ticks that did not fire, for people.
struct GapView {
  std::string job;
  model::Gap gap;
};

/// A calendar that jobs use and that covers no day from some day within 60 days on.
struct EndingCalendar {
  std::string space, name;
  model::Day last_day{};                 ///< that it covers
  WallTime end{};                        ///< of that day, in its zone
  bool holds = false;                    ///< nothing fires then
  std::int64_t jobs = 0;                 ///< that use it
};

/// What is counted since the Term began, for metrics.
struct Tallies {
  std::map<std::string, std::int64_t> runs_by_state;    ///< unfinished runs
  std::map<std::string, std::int64_t> attempts_ended;   ///< by state
  Histogram lateness, dispatch_latency, batch_time;     ///< seconds
  std::int64_t inbox_events = 0;                        ///< waiting when the snapshot was taken
  std::int64_t batches_failed = 0, batches_unknown = 0; ///< tries that ended so
  std::int64_t invariant_violations = 0;                ///< different ones that were met
  std::string first_violation;                          ///< of them; empty: none
};

struct Snapshot {
  Epoch epoch;
  WallTime taken{};
  WallTime watermark{};                  ///< through which every job is recorded
  std::vector<WorkerView> workers;
  /// Unfinished, and not running or on a worker that does not answer; the oldest 10,000.
  RunViews waiting;
  std::int64_t jobs = 0;
  std::int64_t active_runs = 0;
  std::string tick_hold;                   ///< why ticks are held, or empty
  std::map<std::string, std::int64_t> counters;  ///< e.g. "ticks_fired", "stale_refused"
  std::vector<model::Freeze> freezes;    ///< in force, or not yet made up for
  std::vector<EndingCalendar> calendars_ending;  ///< the first to end first; bounded
  std::vector<SemaphoreView> semaphores; ///< in use, by name
  std::vector<QuotaView> pools, namespaces;  ///< with limits or runs, by name
  std::vector<ScaleView> scaling;        ///< wanted workers of each pool, by name
  LinesView lines;                       ///< in which runs wait for slots
  std::vector<GapView> newest_gaps;      ///< of this Term, newest first
  Tallies tallies;
};

}  // namespace rota::master::core
