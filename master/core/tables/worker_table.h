// Workers and their lives: who is here, what each holds, who may take an attempt now, who is drained or was
// confirmed to be dead, and when each must be looked at again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/worker.h"
#include "common/model/worker_hold.h"
#include "master/core/shared_info.h"
#include "master/core/tables/id_set.h"
#include "master/core/tables/open_workers.h"
#include "master/core/tables/run_table.h"
#include "master/core/tables/slot_queue_key.h"
#include "master/core/tables/walk.h"
#include "master/core/tables/worker_figures.h"
#include "master/core/tables/worker_group.h"
#include "master/core/time/timer_index.h"
#include "master/core/workers/worker_state_rules.h"

namespace rota::master::core {

/// What this Term has last told a life about its drain.
struct DrainTelling {
  bool draining = false;
  std::int64_t order = 0;
};

/// One life of a worker: kept while its node is there, or while attempts are stored for it. What decides
/// whether it may take an attempt is read here and changed by WorkerTable and State alone.
class LifeEntry {
 public:
  bool hello_in_flight = false;
  std::int32_t failed_hellos = 0;      ///< since the last answer
  bool unseen = false;                 ///< the ZooKeeper in use never had its node: absence says nothing
  std::int64_t seen_in = 0;            ///< number of the ZooKeeper in which its node appeared last
  std::string why;                     ///< it is not online
  WallTime joined{};
  std::optional<WallTime> left;        ///< its node is gone since then
  MonoTime heard{};                    ///< when it last asked for a voucher, or answered hello
  Millis renews_every{0};              ///< the pause between its last two renewals
  bool is_silence_told = false;        ///< in the log
  bool has_fresh_figures = false;      ///< its vitals come with renewals, and not by its node
  std::shared_ptr<const std::vector<model::AttemptUsage>> usage;  ///< as it last said
  std::optional<MonoTime> last_beat;   ///< set: none came later, and its session is over
  std::size_t place = 0;               ///< of its dispatch among the batch's messages, if that is there
  std::string warning;                 ///< why it gets half of its share; empty: it does not
  std::string accused;                 ///< it would be excluded, if others of its pool were not already
  ClockOffset clock;

  const model::WorkerInfo& info() const { return info_; }
  /// The same without its vitals, in one piece that is made anew only when it is another one.
  const SharedInfo& shared_info() const;
  const model::WorkerKey& key() const { return info_.key; }
  const LifeKeyPtr& shared_key() const { return shared_key_; }
  bool is_present() const { return present_; }        ///< its node is there
  bool is_reconciled() const { return reconciled_; }  ///< it has said what it holds
  bool is_resting() const { return resting_; }        ///< refused an attempt a moment ago
  bool is_settling() const { return settling_; }      ///< it came back in a crowd, and is let in later
  bool is_on_trial() const { return on_trial_; }      ///< it gets one attempt at a time
  const IdSet<RunId>& attempts() const { return attempts_; }  ///< stored for it and not ended
  std::int32_t unusable_slots() const { return unusable_slots_; }
  const std::optional<DrainTelling>& told_drain() const { return told_drain_; }
  std::int64_t dispatched_total() const { return dispatched_total_; }
  std::int64_t last_used() const { return last_used_; }  ///< ordinal of its last dispatch

  /// Slots that its attempts take.
  std::int32_t used_slots() const { return used_slots_; }
  /// What they take beside them, with what attempts took whose death was not proven.
  const model::Amounts& used() const { return used_; }
  std::int32_t free_slots() const { return info_.slots - unusable_slots_ - used_slots_; }
  std::int64_t free_of(const std::string& name) const {
    return (info_.offers ? model::amount_of(*info_.offers, name) : 0) - model::amount_of(used_, name);
  }
  /// The queue of wide runs for which it is kept until it has room for one; null: none. Others get what is
  /// left beside that.
  const SlotQueueKey* kept_for() const { return kept_for_; }
  /// It was told of a drain, or of its end, and has not said yet that it heard.
  bool drain_ack_pending() const {
    if (!told_drain_) return false;
    return info_.drain_order ? *info_.drain_order < told_drain_->order
                             : info_.drain_told != told_drain_->draining;
  }
  /// By its own last word it takes nothing new, or that word is still to come.
  bool is_closed() const { return info_.draining || says_draining_ || drain_ack_pending(); }

  void set_vitals(const decltype(model::WorkerInfo::vitals)& vitals) { info_.vitals = vitals; }
  /// How fast it accepts attempts, smoothed; 0: not known.
  double answer_ms() const { return figures_.answer_ms(); }
  bool has_half() const { return figures_.has_half(); }  ///< of its share
  /// It may take one more attempt, as far as it depends on those that it holds.
  bool has_room() const {
    const std::int32_t kept = kept_for_ == nullptr ? 0 : kept_for_->demand.slots;
    return free_slots() > kept && (!on_trial_ || attempts_.empty());
  }
  /// The same of one that takes so much; `is_kept`: of the queue that it is kept for.
  bool has_room_for(const model::Demand& demand, bool is_kept = false) const;
  /// It could take it if it held nothing: as its node says, without what it lost to attempts whose death was
  /// not proven.
  bool has_usable(const model::Demand& demand) const;

 private:
  friend class WorkerTable;
  friend struct StateSurgery;          // tests break it on purpose

  model::WorkerInfo& change_info() {
    shared_info_.reset();
    return info_;
  }

  model::WorkerInfo info_;
  mutable std::optional<SharedInfo> shared_info_;  ///< unset: not asked for since it changed
  LifeKeyPtr shared_key_;
  bool fits_ = false;                  ///< it may take an attempt as soon as it has a free slot
  bool present_ = false;
  bool reconciled_ = false;
  bool resting_ = false;
  bool settling_ = false;
  bool on_trial_ = false;
  bool says_draining_ = false;         ///< in answer to hello; its node may not say it yet
  std::int32_t unusable_slots_ = 0;    ///< held by attempts whose death was not proven
  model::Amounts lost_;                ///< what they hold beside them, which `used_` has too
  std::optional<DrainTelling> told_drain_;
  IdSet<RunId> attempts_;
  std::int32_t used_slots_ = 0;
  model::Amounts used_;
  const SlotQueueKey* kept_for_ = nullptr;
  std::int64_t dispatched_total_ = 0;
  std::int64_t last_used_ = 0;
  WorkerFigures figures_;
  bool counts_here_ = false, counts_fit_ = false;  ///< as groups with such counts have it
  std::optional<WorkerLoad> open_load_;  ///< with which it stands among those that may take an attempt
  Standing counted_;                     ///< what of it is in its pool's sum
  mutable std::vector<WorkerGroup*> groups_;  ///< that it belongs to, of those that are kept
  mutable std::vector<WorkerGroup*> gated_;   ///< the same, of those whose counts are Here or Fit
  mutable std::vector<WorkerGroup*> wide_;    ///< the same, of those that ask for more than a slot
};

/// All lives of one worker id.
class WorkerEntry {
 public:
  std::optional<MonoTime> absent_since;
  MonoTime grant_end{};                ///< of the last renewal that this Term granted to this id
  std::map<std::string, MonoTime> leases;  ///< how long ZooKeeper may vouch, by lives whose node is gone

  const std::set<std::string>& present() const { return present_; }  ///< incarnations whose node is there

 private:
  friend class WorkerTable;
  std::set<std::string> present_;
};

enum class LifeTimer { Hello, Rest, TellDrain, HandOver, AskAgain, Silence, LetIn };
enum class HoldTimer { End };

/// Workers of a pool that are registered and not drained.
struct PoolCount {
  std::size_t here = 0;
  std::size_t left_out = 0;            ///< of them: those that a hold keeps from all attempts
};

/// Thread: the Scheduler's. Every function keeps in step which lives may take an attempt, and marks a pool in
/// which one may that could not before.
class WorkerTable {
 public:
  /// `seed`: another one in each Term, so that no worker is the first in all of them.
  explicit WorkerTable(std::uint64_t seed = 0) : seed_(seed) {}

  // --- lives
  /// Makes it when it is not known.
  LifeEntry& life_of(const model::WorkerKey& key);
  LifeEntry* find_life(const model::WorkerKey& key);
  const LifeEntry* find_life(const model::WorkerKey& key) const;
  auto lives() { return walk(lives_); }
  auto lives() const { return walk(lives_); }
  auto lives_of(const std::string& id) const { return walk_of_id(lives_, model::WorkerKey{id, ""}); }
  bool has_life(const std::string& id) const { return !lives_of(id).empty(); }
  /// Lives with a higher key, in order.
  auto lives_after(const model::WorkerKey& key) const { return Walk(lives_.upper_bound(key), lives_.end()); }
  /// Its node is there, and says this. Gives what was known before.
  model::WorkerInfo show_node(LifeEntry& life, const model::WorkerInfo& info);
  /// Its node is gone; nothing that was planned for it is left.
  void hide_node(LifeEntry& life);
  void set_reconciled(LifeEntry& life, bool reconciled);
  void set_resting(LifeEntry& life, bool resting);
  void set_settling(LifeEntry& life, bool settling);
  void set_half(LifeEntry& life, bool half);
  /// A route would have chosen it, and chose another since it gets half of its share.
  void pass_over(const model::WorkerKey& key);
  /// What an attempt took whose process set was not seen empty.
  void lose_slot(LifeEntry& life, const model::JobRules& rules);
  /// What its host does, by a renewal.
  void note_vitals(LifeEntry& life, model::WorkerVitals vitals);
  /// Other weights of the load formula count from now on, for all that is known.
  void set_load_weights(const LoadWeights& weights);
  /// How long it took to accept an attempt, or not to answer.
  void note_answer(LifeEntry& life, Millis took);
  /// Gives back a life without node and attempts, and its worker when that was the last one.
  void forget_life_if_done(const model::WorkerKey& key);
  /// Every run stored for any life of this worker id, in order.
  std::vector<RunId> runs_on(const std::string& worker_id) const;

  // --- worker ids
  /// Makes it when it is not known.
  WorkerEntry& worker_of(const std::string& id) { return workers_[id]; }
  const WorkerEntry* find_worker(const std::string& id) const;
  auto workers() const { return walk(workers_); }
  /// The longest that ZooKeeper vouches for any worker that this Term has seen.
  Millis longest_lease() const { return longest_lease_; }
  void note_lease(Millis lease) { longest_lease_ = std::max(longest_lease_, lease); }

  // --- drains in force, by worker id
  const model::WorkerDrain* find_drain(const std::string& id) const;
  auto drains() const { return walk(drains_); }
  void begin_drain(model::WorkerDrain drain);
  /// Gives the one that is over; it is in force.
  model::WorkerDrain end_drain(const std::string& id);
  /// Drained by an operator, or by its own last word taking nothing.
  bool is_draining(const LifeEntry& life) const {
    return life.is_closed() || drains_.contains(life.key().id);
  }
  void tell_drain(LifeEntry& life, DrainTelling telling);
  /// What it says, by its node or in answer to hello, that it was told last.
  void set_drain_heard(LifeEntry& life, std::optional<bool> told, std::optional<std::int64_t> order);
  void set_says_draining(LifeEntry& life, bool says);

  // --- holds in force, by worker id: what a worker did keeps attempts from it for a while
  const model::WorkerHold* find_hold(const std::string& id) const;
  auto holds() const { return walk(holds_); }
  /// Begins, or goes on as that says; one that has ended is forgotten.
  void put_hold(const model::WorkerHold& hold);
  PoolCount count_in(const std::string& pool) const;
  TimerIndex<std::string, HoldTimer>& hold_timers() { return hold_timers_; }
  const TimerIndex<std::string, HoldTimer>& hold_timers() const { return hold_timers_; }

  // --- lives that an operator confirmed to be dead, while attempts are stored for them
  bool is_confirmed(const model::WorkerKey& life) const { return confirmed_.contains(life); }
  auto confirmed_of(const std::string& id) const { return walk_of_id(confirmed_, model::WorkerKey{id, ""}); }
  /// False: it was confirmed already.
  bool confirm_death(const model::WorkerDeath& death) { return confirmed_.emplace(death.life, death).second; }
  /// Gives what was confirmed; it was.
  model::WorkerDeath end_confirmation(const model::WorkerKey& life);

  // --- who may take an attempt now
  /// Empty when there is none. Valid until a worker changes.
  const OpenWorkers& open_in(const std::string& pool) const;
  /// Among which the route of that queue chooses. If it names a worker, only that one of them counts. With a
  /// gate, some may have no free slot.
  const OpenWorkers& open_for(const SlotQueueKey& queue) const;
  /// Whether a run of that queue may start now.
  bool may_serve(const SlotQueueKey& queue) const {
    if (may_serve(queue, open_for(queue))) return true;
    return !queue.demand.is_plain() && kept_with_room(queue) != nullptr;
  }
  /// `candidates`: open_for(queue).
  bool may_serve(const SlotQueueKey& queue, const OpenWorkers& candidates) const;
  /// The one that runs of that queue wait for; null: there is none, or each will do.
  const LifeEntry* meant_by(const SlotQueueKey& queue) const;
  // --- wide runs: those that take more than one slot
  /// A worker that is kept for runs of that queue; null: none.
  const LifeEntry* kept_for(const SlotQueueKey& queue) const;
  /// The same, if it has room for one now; where the route has one in mind, if it is still that one.
  const LifeEntry* kept_with_room(const SlotQueueKey& queue) const;
  /// Keeps the worker with the least load that could take a run of that queue, so that what becomes free
  /// there is not given to narrower ones forever. None that runs of these queues, which are before it,
  /// could take. False: there is none.
  bool keep_for(const SlotQueueKey& queue, const std::vector<const SlotQueueKey*>& before);
  /// Nothing is kept for it any more.
  void stop_keeping(const SlotQueueKey& queue);
  const std::map<SlotQueueKey, model::WorkerKey>& kept() const { return kept_; }

  /// All lives that runs of that queue may go to, together.
  Standing standing_for(const SlotQueueKey& queue) const;
  /// By pool; none is all zeros.
  const std::map<std::string, Standing>& standings() const { return standings_; }
  Standing standing_in(const std::string& pool) const { return standing_of(pool); }
  /// It is neither drained nor held back.
  bool may_accept(const LifeEntry& life) const { return standing_of(life).accepting == 1; }
  bool is_open(const LifeEntry& life) const;
  /// Whether it should be among them.
  bool may_take(const LifeEntry& life) const;
  /// What is kept of it in the orders and sums of its pool is what it is.
  bool is_in_step(const LifeEntry& life) const;

  // --- pools where something changed, so that their queues are looked at
  void mark_pool(const std::string& pool) { marked_pools_.insert(pool); }
  void unmark_pool(const std::string& pool) { marked_pools_.erase(pool); }
  const std::set<std::string>& marked_pools() const { return marked_pools_; }

  TimerIndex<model::WorkerKey, LifeTimer>& timers() { return timers_; }
  const TimerIndex<model::WorkerKey, LifeTimer>& timers() const { return timers_; }

 private:
  friend class State;
  friend struct StateSurgery;          // tests break it on purpose
  /// An attempt is sent to it.
  void dispatch(LifeEntry& life, const RunEntry& run, model::RouteKind route);
  /// It holds an attempt that another life of its worker was sent.
  void hold(LifeEntry& life, const RunEntry& run);
  /// An attempt of before this Term is stored for a life of which nothing else is known yet.
  LifeEntry& restore_attempt(const model::WorkerKey& key, const RunEntry& run);
  void release(LifeEntry& life, const RunEntry& run);
  void take(LifeEntry& life, const RunEntry& run);

  bool fits(const LifeEntry& life) const;
  bool is_held_back(const LifeEntry& life) const;
  void refresh(LifeEntry& life);
  void refresh_all(const std::string& id);
  void refresh_open(LifeEntry& life);
  void refresh_wide(LifeEntry& life);
  void refresh_standing(LifeEntry& life);
  void leave_gates(LifeEntry& life);
  bool may_be_kept(const LifeEntry& life, const SlotQueueKey& queue,
                   const std::vector<const SlotQueueKey*>& before) const;
  bool is_meant(const SlotQueueKey& queue, const LifeEntry& life) const;
  static Standing counted_in(const WorkerGroup& group, const LifeEntry& life);
  Standing standing_of(const std::string& pool) const;
  void count_handlers(const LifeEntry& life, std::int32_t by);
  bool all_know(const SlotQueueKey& queue) const;
  const WorkerGroup& group_for(const SlotQueueKey& queue) const;
  const WorkerGroup& group_of(const GroupKey& key) const;
  static std::vector<WorkerGroup*>& groups_with(const LifeEntry& life, const WorkerGroup& group);
  void drop_a_group() const;
  void join_groups(LifeEntry& life);
  static void join(const LifeEntry& life, WorkerGroup& group);
  bool is_here(const LifeEntry& life) const;
  static std::optional<WorkerLoad> load_in(const WorkerGroup& group, const LifeEntry& life);
  static const model::WorkerKey* meant_by(Gate gate, const OpenWorkers& candidates);
  void refresh_gates(LifeEntry& life);
  bool is_in_step_with_groups(const LifeEntry& life) const;
  void begin_figures(LifeEntry& life);
  Standing standing_of(const LifeEntry& life) const;
  static WorkerLoad load_of(const LifeEntry& life);

  LoadWeights weights_;
  std::map<model::WorkerKey, LifeEntry> lives_;
  std::map<std::string, WorkerEntry> workers_;
  std::map<std::string, model::WorkerDrain> drains_;
  std::map<std::string, model::WorkerHold> holds_;
  TimerIndex<std::string, HoldTimer> hold_timers_;
  std::map<model::WorkerKey, model::WorkerDeath> confirmed_;
  std::map<std::string, OpenWorkers> open_;   ///< by pool; none is empty
  std::map<std::string, Standing> standings_;  ///< by pool; none is all zeros
  std::map<GroupKey, std::int32_t> knowing_;   ///< how many present lives of a pool know a handler
  mutable std::map<GroupKey, WorkerGroup> groups_;  ///< at most kGroupsMost
  mutable std::uint64_t group_ordinal_ = 0;
  std::map<SlotQueueKey, model::WorkerKey> kept_;  ///< workers that are kept for wide runs
  std::set<std::string> marked_pools_;
  TimerIndex<model::WorkerKey, LifeTimer> timers_;
  std::int64_t dispatch_ordinal_ = 0;
  std::map<std::string, std::int64_t> turns_;  ///< by pool: how far weighted turns have come
  std::uint64_t seed_ = 0;
  Millis longest_lease_{0};
};

}  // namespace rota::master::core
