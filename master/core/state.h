// What the leader knows: jobs, unfinished runs, workers, and the indexes that keep every decision cheap.
// Each table (master/core/tables) keeps its own indexes in step; what concerns several of them changes here.
// Entries hold what decisions need, never what a job runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/run.h"
#include "common/model/worker.h"
#include "master/core/counters.h"
#include "master/core/effect.h"
#include "master/core/recovered.h"
#include "master/core/scheduler.h"
#include "master/core/tables/calendar_table.h"
#include "master/core/tables/catch_up_table.h"
#include "master/core/tables/child_table.h"
#include "master/core/tables/conduct_table.h"
#include "master/core/tables/departed_table.h"
#include "master/core/tables/expect_table.h"
#include "master/core/tables/freeze_table.h"
#include "master/core/tables/given_up.h"
#include "master/core/tables/job_table.h"
#include "master/core/tables/key_memory.h"
#include "master/core/tables/listing_table.h"
#include "master/core/tables/quota_table.h"
#include "master/core/tables/scale_table.h"
#include "master/core/tables/setting_table.h"
#include "master/core/tables/notification_table.h"
#include "master/core/tables/run_table.h"
#include "master/core/tables/slot_queue_table.h"
#include "master/core/tables/start_table.h"
#include "master/core/tables/tick_table.h"
#include "master/core/tables/token_table.h"
#include "master/core/tables/work_table.h"
#include "master/core/tables/worker_table.h"

namespace rota::master::core {

/// Thread: the Scheduler's. Owned by it.
class State {
 public:
  State(Epoch epoch, const CoreOptions& options, MonoTime began);

  Epoch epoch() const { return epoch_; }
  const CoreOptions& options() const { return options_; }
  /// What was set, and what is in force with it: options() has that at once.
  const SettingTable& settings() const { return settings_; }
  /// A version that follows all others of its setting. What it changes beyond options() is setting_rules.h.
  void put_setting(model::SettingRow row);
  /// After the Term's epoch transaction.
  MonoTime began() const { return began_; }
  /// Never goes back.
  WallTime core_time() const { return core_time_; }
  void advance_core_time(WallTime at) { core_time_ = std::max(core_time_, at); }
  Counters& counters() { return counters_; }
  const Counters& counters() const { return counters_; }

  // --- its tables
  JobTable& jobs() { return jobs_; }
  const JobTable& jobs() const { return jobs_; }
  CalendarTable& calendars() { return calendars_; }
  const CalendarTable& calendars() const { return calendars_; }
  RunTable& runs() { return runs_; }
  const RunTable& runs() const { return runs_; }
  SlotQueueTable& slot_queues() { return slot_queues_; }
  const SlotQueueTable& slot_queues() const { return slot_queues_; }
  TokenTable& tokens() { return tokens_; }
  const TokenTable& tokens() const { return tokens_; }
  QuotaTable& quotas() { return quotas_; }
  const QuotaTable& quotas() const { return quotas_; }
  CatchUpTable& catch_up() { return catch_up_; }
  const CatchUpTable& catch_up() const { return catch_up_; }
  WorkerTable& workers() { return workers_; }
  const WorkerTable& workers() const { return workers_; }
  ConductTable& conduct() { return conduct_; }
  const ConductTable& conduct() const { return conduct_; }
  WorkTable& work() { return work_; }
  const WorkTable& work() const { return work_; }
  DepartedTable& departed() { return departed_; }
  const DepartedTable& departed() const { return departed_; }
  ListingTable& listings() { return listings_; }
  const ListingTable& listings() const { return listings_; }
  TickTable& ticks() { return ticks_; }
  const TickTable& ticks() const { return ticks_; }
  FreezeTable& freezes() { return freezes_; }
  const FreezeTable& freezes() const { return freezes_; }
  StartTable& starts() { return starts_; }
  const StartTable& starts() const { return starts_; }
  ChildTable& children() { return children_; }
  const ChildTable& children() const { return children_; }
  NotificationTable& notifications() { return notifications_; }
  const NotificationTable& notifications() const { return notifications_; }
  ScaleTable& scaling() { return scaling_; }
  const ScaleTable& scaling() const { return scaling_; }
  ExpectTable& expects() { return expects_; }
  const ExpectTable& expects() const { return expects_; }
  GivenUp& given_up() { return given_up_; }
  KeyMemory& keys() { return keys_; }
  const KeyMemory& keys() const { return keys_; }

  JobEntry* find_job(JobId id) { return jobs_.find(id); }
  const JobEntry* find_job(JobId id) const { return jobs_.find(id); }
  RunEntry* find_run(RunId id) { return runs_.find(id); }
  const RunEntry* find_run(RunId id) const { return runs_.find(id); }
  LifeEntry* find_life(const model::WorkerKey& key) { return workers_.find_life(key); }
  const LifeEntry* find_life(const model::WorkerKey& key) const { return workers_.find_life(key); }
  void touch(const RunEntry& run) { runs_.touch(run); }
  /// Through which moment this job's ticks are recorded: none of them may be recorded again.
  WallTime recorded_through(const JobEntry& job) const;

  // --- a run on its way
  /// Its job is known.
  RunEntry& add_run(RunEntry entry);
  /// Goes to another state that is not final, checked against run_rules.h; leaves queue and worker as that
  /// asks.
  void set_state(RunEntry& run, model::RunState to, model::Reason reason, std::string detail = {});
  /// The same to a final one. Call finish_run (attempts/end_rules.h), which alone does what follows an end.
  void end_run(RunEntry& run, model::RunState to, model::Reason reason, std::string detail);
  /// Waiting -> Queued: stands in its queue.
  void enter_slot_queue(RunEntry& run) { enter_slot_queue(run, core_time_); }
  /// The same of one that stood there before this Term, or would have, since then.
  void enter_slot_queue(RunEntry& run, WallTime since);
  /// The same of one that a worker did not take: from now on it waits for each that may take it.
  void enter_any_slot_queue(RunEntry& run);
  /// It has waited long enough for a worker with the labels of `prefer`.
  void stop_preferring(RunEntry& run);
  /// Runs that have begun to wait for such a worker since the last call, and until when.
  std::vector<std::pair<RunId, WallTime>> take_preferring() { return std::exchange(preferring_, {}); }
  /// Its rules have changed: runs that wait go by its new priority.
  void reprioritize(const JobEntry& job) { slot_queues_.set_priority(job); }
  /// Its namespace has another weight.
  void reweigh(const std::string& space, std::int64_t weight) { slot_queues_.set_weight(space, weight); }
  /// Waiting behind another run of its job.
  void wait_behind(RunEntry& run, RunId other);
  /// Waiting until the runs of late ticks have their turn (catch_up_rules.h).
  void wait_to_catch_up(RunEntry& run);
  /// Queued -> Dispatched: the run's attempt of this number is from now on that life's.
  void assign(RunEntry& run, LifeEntry& life, std::int32_t attempt, WallTime at);
  /// The attempt is held by another life of the same worker.
  void move_attempt(RunEntry& run, const model::WorkerKey& to);
  /// An attempt of that number was made of which the database knows nothing; nobody holds the run.
  void set_attempt_number(RunEntry& run, std::int32_t attempt);
  /// A late result says who had the attempt, and since when; nobody holds the run.
  void set_past_worker(RunEntry& run, const model::WorkerKey& worker, WallTime dispatched);
  /// It is final.
  void erase_run(RunId id);

  // --- runs of before this Term, as they are stored
  /// Held by a worker: it is accounted there until the worker says what it holds.
  void restore_held(RunEntry& run);
  /// Waiting behind another run of its job.
  void restore_behind(RunEntry& run);
  /// Waiting to be caught up.
  void restore_catch_up(RunEntry& run);

  RunId new_run_id() { return RunId{next_id()}; }
  std::int64_t new_drain_order() { return next_id(); }
  std::int64_t new_freeze_id() { return next_id(); }
  std::int64_t new_start_number() { return next_id(); }
  std::int64_t new_hold_number() { return next_id(); }
  std::int64_t new_semaphore_number() { return next_id(); }
  std::int64_t new_quota_number() { return next_id(); }
  std::int64_t new_notification_id() { return next_id(); }
  std::int64_t new_scale_number() { return next_id(); }
  std::int64_t new_setting_number() { return next_id(); }
  JobId new_job_id() { return JobId{next_id()}; }

  /// The database went back: first all workers say what they hold.
  bool awaits_inventories() const { return awaits_inventories_; }
  void set_awaits_inventories(bool awaits) { awaits_inventories_ = awaits; }

 private:
  std::int64_t next_id();
  void move_run(RunEntry& run, model::RunState to, model::Reason reason, std::string detail);
  void leave_worker(RunEntry& run);
  void leave_catch_up(RunEntry& run);
  void leave_slot_queue(RunEntry& run, bool is_sent);
  void join_slot_queue(RunEntry& run, WallTime since);

  const Epoch epoch_;
  CoreOptions options_;                ///< put_setting alone changes it, and only its settings
  SettingTable settings_;
  const MonoTime began_;
  WallTime core_time_{};
  bool awaits_inventories_ = false;
  std::vector<std::pair<RunId, WallTime>> preferring_;
  std::int64_t id_counter_ = 0;
  CalendarTable calendars_;
  JobTable jobs_;
  RunTable runs_;
  SlotQueueTable slot_queues_;
  TokenTable tokens_;
  QuotaTable quotas_;
  CatchUpTable catch_up_;
  WorkerTable workers_;
  ConductTable conduct_;
  WorkTable work_;
  DepartedTable departed_;
  ListingTable listings_;
  TickTable ticks_;
  FreezeTable freezes_;
  StartTable starts_;
  ChildTable children_;
  NotificationTable notifications_;
  ScaleTable scaling_;
  ExpectTable expects_;
  GivenUp given_up_;
  KeyMemory keys_;
  Counters counters_;
};

/// What every decision works with.
struct Context {
  State& state;
  Now now;
  WallTime at;                         ///< core time
  Effects& out;
  std::optional<WallTime> recording{};  ///< through there ticks are being recorded, of the job at hand
};

}  // namespace rota::master::core
