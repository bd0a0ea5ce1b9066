// What the leader knows: jobs, unfinished runs, workers, and the indexes that keep every decision cheap.
// The only place where an index changes. Entries hold what decisions need, never what a job runs.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/histogram.h"
#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/run.h"
#include "common/model/worker.h"
#include "master/core/effect.h"
#include "master/core/recovered.h"
#include "master/core/time/schedule.h"
#include "master/core/scheduler.h"
#include "master/core/time/timer_index.h"
#include "master/core/time/watermark.h"

namespace rota::master::core {

using RulesPtr = std::shared_ptr<const model::JobRules>;

struct JobEntry {
  model::Job row;
  RulesPtr rules;
  ZonePtr zone;
  WallTime valid_from{};
  WallTime anchor{};
  std::uint64_t definition_hash = 0;
  CompiledSchedule schedule;
  std::optional<WallTime> next_tick;   ///< set by State::set_next_tick only
  std::set<RunId> unfinished;
  std::set<RunId> behind;              ///< of these: wait for a run of the same job
  std::string last_worker;             ///< round robin: the id that got the last attempt
};

/// How the sending of a run's present attempt stands, within this Term.
struct SendState {
  std::int32_t in_flight = 0;          ///< dispatches whose answer has not come
  bool unclear = false;                ///< a dispatch was answered Unknown: it may still arrive
  bool accepted = false;               ///< the worker said that it holds it
};

struct RunEntry {
  model::Run row;
  RulesPtr rules;                      ///< of the version that it was made of, as far as known
  SendState send;
  std::int32_t forgotten = 0;          ///< highest number of an attempt that a database which went back lacks
  bool is_new = false;                 ///< its row was not put into a batch yet
  bool timed_out = false;              ///< the leader's backstop asked for its end, and no drain before it
  bool handed_over = false;            ///< the deadline of its worker's drain asked for its end
  bool in_slot_queue = false;

  model::RunProgress& progress() { return row.progress; }
  const model::RunProgress& progress() const { return row.progress; }
  model::AttemptKey attempt() const { return {row.id, row.progress.attempt}; }
  /// It is that attempt's, by that worker: after a restore two workers may have one of the same number.
  bool is_of(model::AttemptKey key, const std::string& worker_id) const {
    return is_held() && attempt() == key && row.progress.worker.id == worker_id;
  }
  /// The highest number that an attempt of it has had, as far as is known.
  std::int32_t last_attempt() const { return std::max(row.progress.attempt, forgotten); }
  /// Stored for a worker, and not ended as far as is known.
  bool is_held() const {
    return row.progress.state == model::RunState::Dispatched ||
           row.progress.state == model::RunState::Running;
  }
};

/// What this Term has last told a life about its drain.
struct DrainTelling {
  bool draining = false;
  std::int64_t order = 0;
};

/// One life of a worker: kept while its node is there, or while attempts are stored for it.
struct LifeEntry {
  model::WorkerInfo info;
  bool present = false;                ///< its node is there
  bool reconciled = false;             ///< it has said what it holds
  bool hello_in_flight = false;
  std::int32_t failed_hellos = 0;      ///< since the last answer
  std::set<RunId> attempts;            ///< stored for it and not ended
  std::int32_t unusable_slots = 0;     ///< held by attempts whose death was not proven
  bool resting = false;                ///< refused an attempt a moment ago
  bool unseen = false;                 ///< the ZooKeeper in use never had its node: absence says nothing
  std::int64_t seen_in = 0;            ///< number of the ZooKeeper in which its node appeared last
  bool says_draining = false;          ///< in answer to hello; its node may not say it yet
  std::optional<DrainTelling> told_drain;
  std::int64_t dispatched_total = 0;
  std::int64_t last_used = 0;          ///< ordinal of its last dispatch
  std::string why;                     ///< it is not online
  WallTime joined{};
  std::optional<WallTime> left;        ///< its node is gone since then
  MonoTime heard{};                    ///< when it last asked for a voucher, or answered hello
  Millis renews_every{0};              ///< the pause between its last two renewals
  bool is_silence_told = false;        ///< in the log
  bool has_fresh_figures = false;      ///< its vitals come with renewals, and not by its node
  std::shared_ptr<const std::vector<model::AttemptUsage>> usage;  ///< as it last said
  std::optional<MonoTime> last_beat;   ///< set: none came later, and its session is over

  std::int32_t free_slots() const {
    return info.slots - unusable_slots - static_cast<std::int32_t>(attempts.size());
  }
  /// It was told of a drain, or of its end, and has not said yet that it heard.
  bool drain_ack_pending() const {
    if (!told_drain) return false;
    return info.drain_order ? *info.drain_order < told_drain->order : info.drain_told != told_drain->draining;
  }
  /// By its own last word it takes nothing new, or that word is still to come.
  bool is_closed() const { return info.draining || says_draining || drain_ack_pending(); }
};

/// The last life of a worker that is not here, for people.
struct DepartedWorker {
  model::WorkerInfo info;              ///< of one from before this Term its address and pool are known alone
  WallTime left{};
  std::string why;
};

/// All lives of one worker id.
struct WorkerEntry {
  std::set<std::string> present;       ///< incarnations whose node is there
  std::optional<MonoTime> absent_since;
  MonoTime grant_end{};                ///< of the last renewal that this Term granted to this id
  std::map<std::string, MonoTime> leases;  ///< how long ZooKeeper may vouch, by lives whose node is gone
};

/// Runs that could start, waiting for a slot of one pool, or of one named worker in it. Fair between
/// jobs: they take turns, each gives its oldest run.
struct SlotQueueKey {
  std::string pool;
  std::string worker;                  ///< empty: any of the pool
  auto operator<=>(const SlotQueueKey&) const = default;
};
struct SlotQueue {
  std::map<JobId, std::set<RunId>> jobs;
  JobId last_job;                      ///< whose turn was last
  model::Reason blocked = model::Reason::None;
};

enum class RunTimer { RetryDelay, DispatchRetry, Fence, LazyWrite, Backstop, CancelRepeat };
enum class LifeTimer { Hello, Rest, TellDrain, HandOver, AskAgain, Silence };

struct KeyMemory {
  std::string hash;
  RunId run;
  MonoTime until{};
};

struct Counters {
  std::int64_t ticks_fired = 0, ticks_skipped = 0, runs_recorded = 0, runs_finished = 0;
  std::int64_t tick_slices = 0;        ///< stretches of time that were too much for one batch
  std::int64_t dispatches = 0, redispatches = 0, refusals = 0, unclear_dispatches = 0;
  std::int64_t reports = 0, repeated_reports = 0, late_results = 0, retries = 0, losses = 0;
  std::int64_t proven_dead = 0, resent = 0;
  std::int64_t notes = 0, stale_notes = 0;
  std::int64_t renews = 0, renews_refused = 0, hellos = 0, adopted = 0, readopted = 0, cancels = 0;
  std::int64_t handed_over = 0;
  std::map<model::RunState, std::int64_t> attempts_ended;  ///< by how they ended
  Histogram dispatch_latency = seconds_histogram();        ///< from its row to the worker's acceptance
};

/// Thread: the Scheduler's. Public functions keep all indexes in step; rows go to a batch by `touch`.
class State {
 public:
  State(Epoch epoch_in, const CoreOptions& options_in, MonoTime began_in);

  // --- jobs
  JobEntry& add_job(JobEntry entry);
  void erase_job(JobId id);
  /// Gives back a deleted or one-off job without unfinished runs.
  void forget_job_if_done(JobId id);
  JobEntry* find_job(JobId id);
  const JobEntry* find_job(JobId id) const;
  JobEntry* find_named(const std::string& space, const std::string& name);
  void release_name(const JobEntry& job);
  void give_name(const JobEntry& job) { names[{job.row.space, job.row.name}] = job.row.id; }
  /// Remembered for a while: who has read its rows before must not bring it back as it was then.
  void note_deleted(const JobEntry& job);
  void set_next_tick(JobEntry& job, std::optional<WallTime> tick);
  void set_rules(JobEntry& job, RulesPtr rules);
  /// Through which moment this job's ticks are recorded: none of them may be recorded again.
  WallTime recorded_through(const JobEntry& job) const;
  /// The longest tick_grace of any saved job: what is older is late, whose it may be.
  Millis longest_grace() const { return graces.empty() ? Millis{0} : graces.rbegin()->first; }

  // --- runs
  RunEntry& add_run(RunEntry entry);
  RunEntry* find_run(RunId id);
  const RunEntry* find_run(RunId id) const;
  /// Goes to another state, checked against run_rules.h; leaves queue, queue and worker as that asks.
  void set_state(RunEntry& run, model::RunState to, model::Reason reason, std::string detail = {});
  /// Waiting -> Queued: stands in its queue.
  void enter_slot_queue(RunEntry& run);
  /// Waiting behind another run of its job.
  void wait_behind(RunEntry& run, RunId other);
  /// Queued -> Dispatched, for this life.
  /// The run's attempt of this number is from now on that life's.
  void assign(RunEntry& run, LifeEntry& life, std::int32_t attempt, WallTime at);
  /// The attempt is held by another life of the same worker.
  void move_attempt(RunEntry& run, const model::WorkerKey& to);
  /// The row must be written with this batch; the entry goes after that when it is final.
  void touch(const RunEntry& run) { touched.insert(run.row.id); }
  void erase_run(RunId id);

  // --- workers
  LifeEntry& life_of(const model::WorkerKey& key);
  LifeEntry* find_life(const model::WorkerKey& key);
  WorkerEntry& worker_of(const std::string& id) { return workers[id]; }
  /// Drained by an operator, or by its own last word taking nothing.
  bool is_draining(const LifeEntry& life) const {
    return life.is_closed() || drains.contains(life.info.key.id);
  }
  /// Brings the index of open workers in step with an entry that was changed.
  void refresh(LifeEntry& life);
  void forget_life_if_done(const model::WorkerKey& key);
  /// Every run stored for any life of this worker id, in order.
  std::vector<RunId> runs_on(const std::string& worker_id) const;

  // --- others
  RunId new_run_id() { return RunId{next_id()}; }
  std::int64_t new_drain_order() { return next_id(); }
  JobId new_job_id() { return JobId{next_id()}; }
  void give_up(model::AttemptKey key);

  const Epoch epoch;
  const CoreOptions options;
  const MonoTime began;                ///< after the Term's epoch transaction
  WallTime core_time{};                ///< never goes back
  Watermark watermark;                 ///< every tick up to it is in a batch
  Watermark watermark_in_batch;        ///< the last one put into a batch
  MonoTime watermark_written{};        ///< when that was
  std::string tick_hold;                  ///< why ticks are held, or empty
  bool all_know_slices = true;         ///< see MastersSeen
  bool listed = false;                 ///< WorkersListed has come
  Millis longest_lease{0};             ///< of all workers that this Term has seen
  std::int64_t zookeeper_number = 0;   ///< of the ZooKeeper in use
  std::int64_t replaced_listing = 0;   ///< shows who is in one that is new; 0: no such listing is awaited
  bool awaits_inventories = false;        ///< the database went back: first all workers say what they hold

  std::map<JobId, JobEntry> jobs;
  std::map<JobId, std::set<WallTime>> taken;                    ///< ticks to come that have their run already
  std::map<std::pair<std::string, std::string>, JobId> names;   ///< saved jobs, not deleted
  std::deque<std::pair<JobId, JobVersion>> newly_deleted;       ///< bounded by kDeletedMost
  std::set<std::pair<WallTime, JobId>> due;                     ///< by next tick
  std::set<std::pair<WallTime, JobId>> due_often;               ///< of these, jobs that fire often
  std::map<Millis, std::int64_t> graces;                        ///< of saved jobs: how many have it
  std::map<RunId, RunEntry> runs;
  std::map<SlotQueueKey, SlotQueue> slot_queues;                                ///< none is empty
  std::set<std::string> pools_to_pump;                          ///< where something changed
  std::map<model::WorkerKey, LifeEntry> lives;
  std::map<std::string, WorkerEntry> workers;
  std::map<std::string, model::WorkerDrain> drains;             ///< in force, by worker id
  std::map<model::WorkerKey, model::WorkerDeath> confirmed;     ///< of lives for which attempts are stored
  std::map<std::string, std::set<model::WorkerKey>> open;       ///< by pool: may take an attempt now
  TimerIndex<RunId, RunTimer> run_timers;
  TimerIndex<model::WorkerKey, LifeTimer> life_timers;
  std::set<RunId> touched;
  std::map<std::string, DepartedWorker> departed;               ///< by worker id, see departed_rules.h
  std::map<std::string, WorkerLife> open_rows;  ///< until all are listed: lives whose end nobody recorded
  std::set<model::AttemptKey> given_up;                         ///< bounded by kGivenUpMost
  std::deque<model::AttemptKey> given_up_order;
  std::map<std::pair<std::string, std::string>, KeyMemory> keys;  ///< (principal, request key)
  std::deque<std::pair<MonoTime, std::pair<std::string, std::string>>> key_order;
  std::int64_t dispatch_ordinal = 0;
  std::map<RunId, std::int64_t> past_fence;                     ///< and the listing that each waits for
  std::int64_t listings_asked = 0;
  Counters counters;
  std::map<model::RunState, std::int64_t> runs_by_state;        ///< of `runs`
  std::deque<model::Gap> newest_gaps;                           ///< of this Term, at most kGapsShown

 private:
  std::int64_t next_id();
  void leave_slot_queue(RunEntry& run);
  void leave_worker(RunEntry& run);
  void count_grace(const JobEntry& job, std::int64_t change);

  std::int64_t counter_ = 0;
};

/// What every decision works with.
struct Context {
  State& state;
  Now now;
  WallTime at;                         ///< core time
  Effects& out;
};

inline constexpr std::size_t kGivenUpMost = 100'000;
inline constexpr std::size_t kGapsShown = 20;
inline constexpr std::size_t kDeletedMost = 1000;

/// The queue that a run of these rules waits in.
SlotQueueKey slot_queue_of(const model::JobRules& rules);

}  // namespace rota::master::core
