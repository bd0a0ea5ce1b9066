// Questions to the store, with connections of its own: any master answers them. Rows may be a moment
// old, never half-written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/base/utf8.h"
#include "common/model/calendar.h"
#include "common/model/child.h"
#include "common/model/expect.h"
#include "common/model/quota.h"
#include "common/model/node_minute.h"
#include "common/model/notification.h"
#include "common/model/scaling.h"
#include "common/model/semaphore.h"
#include "common/model/setting.h"
#include "common/model/worker_hold.h"
#include "common/model/job.h"
#include "common/model/run.h"
#include "master/core/effect.h"
#include "master/store/rewind.h"

namespace rota::master::store {

struct RunQuery {
  std::string space = "default";
  std::string job;                        ///< name; empty: all
  std::optional<bool> one_off;            ///< of that name: one-offs alone, or the saved job alone; else both
  std::vector<model::RunState> states;    ///< empty: all
  std::optional<WallTime> since;          ///< scheduled at or after
  std::optional<RunId> before;            ///< page on: ids below this
  std::string worker;                     ///< of the newest attempt; empty: any, see kRunsLookedThrough
  std::optional<RunId> parent, root;      ///< children of that run, or all below that root
  std::int32_t limit = 50;                ///< 1 to 1000; newest first
};

/// A worker's runs are searched among so many of the newest, unless `since` is set: there is no index for
/// them.
inline constexpr std::int64_t kRunsLookedThrough = 200'000;

/// Whether the run was submitted without a saved job: its job's id tells.
inline bool is_of_one_off(const model::Run& run) { return (run.job.value & kOneOffBit) != 0; }

struct RunRow {
  model::Run run;
  std::string job_name;
};

struct JobRow {
  model::Job job;
  model::JobVersionRow version;           ///< the newest
};

/// Ticks that did not fire, of one job for one reason (and behind one run).
struct GapSum {
  std::string job;
  model::Reason reason = model::Reason::None;
  std::int64_t reference = 0;             ///< 0 unless asked by reference
  std::int64_t ticks = 0;
  WallTime from{}, to{};
};

struct GapQuery {
  std::string space = "default";
  WallTime since{};                       ///< gaps that reach there or beyond
  std::vector<model::Reason> reasons;     ///< at least one
  bool by_reference = false;              ///< a sum for each run that they refer to; else one for all
  std::int64_t least_ticks = 1;
  std::int32_t limit = 100;               ///< the newest
};

/// A child of some run of a tree, and how its own run is now.
struct FamilyRow {
  model::ChildRow child;
  bool has_run = false;                   ///< false: none began, or retention has deleted it
  model::RunState state{};
  model::Reason reason = model::Reason::None;
  std::optional<WallTime> started, ended;
};

/// One stretch of leadership, as its takeover stored it.
struct TermRow {
  Epoch epoch;
  std::string holder;                     ///< the master's id
  std::string address;
  WallTime taken{};                       ///< by the database's clock
};

/// The run that a request key stands for.
struct KeyedRun {
  RunId run;
  std::string request_hash;
};

inline Error no_deleted(const std::string& space, const std::string& name) {
  return Error(ErrorCode::NotFound, "no deleted job '" + shown_text(name) + "' in namespace '" +
                                        shown_text(space) + "'");
}

/// Thread: any. Errors: NotFound, Unavailable (database), TimedOut.
class Reader {
 public:
  virtual ~Reader() = default;
  virtual Result<std::vector<RunRow>> list_runs(const RunQuery& query) = 0;
  virtual Result<RunRow> get_run(RunId id) = 0;
  virtual Result<std::vector<model::AttemptRow>> attempts_of(RunId id) = 0;
  virtual Result<std::optional<RunId>> run_of_key(const std::string& principal,
                                                  const std::string& key,
                                                  std::string* request_hash) = 0;
  /// The greatest key of rota's own clients (model::kOwnKeyPrefix) that a run of this principal has; empty:
  /// none. Sees everything that was committed before the call.
  virtual Result<std::string> greatest_own_key(const std::string&) {
    return fail(ErrorCode::Unsupported, "this store can not tell");
  }
  /// Those of the keys that were used before. One question for many keys where the store can.
  virtual Result<std::map<std::string, KeyedRun>> runs_of_keys(const std::string& principal,
                                                               const std::vector<std::string>& keys);
  /// By name; only those after `after`.
  virtual Result<std::vector<JobRow>> list_jobs(const std::string& space, const std::string& prefix,
                                                std::int32_t limit, const std::string& after) = 0;
  virtual Result<JobRow> get_job(const std::string& space, const std::string& name) = 0;
  /// Of the saved jobs that had this name and are deleted, the one that was so last.
  virtual Result<JobRow> last_deleted(const std::string&, const std::string& name) {
    return fail(ErrorCode::NotFound, "no deleted job '" + name + "'");
  }
  /// The newest version of each calendar whose name begins so, by name; deleted ones are left out.
  virtual Result<std::vector<model::CalendarRow>> list_calendars(const std::string&, const std::string&,
                                                                 std::int32_t) {
    return std::vector<model::CalendarRow>();
  }
  /// All versions that were stored under that name, oldest first, also of deleted calendars.
  virtual Result<std::vector<model::CalendarRow>> calendar_versions(const std::string&, const std::string&) {
    return std::vector<model::CalendarRow>();
  }
  /// The newest run of each of these jobs that has one; at most 10,000 jobs.
  virtual Result<std::map<JobId, RunRow>> newest_runs_of(const std::vector<JobId>&) {
    return std::map<JobId, RunRow>();
  }
  /// What runs: for the dispatcher's cache and for queries.
  virtual Result<std::shared_ptr<const model::JobDefinition>> definition_of(JobId job,
                                                                            JobVersion version) = 0;
  virtual Result<std::vector<core::WorkerLife>> lives_of(const std::string& worker_id,
                                                         std::int32_t limit) = 0;
  /// What operators confirmed about the ends of lives, of all workers or of one; by worker and incarnation.
  virtual Result<std::vector<model::WorkerDeath>> deaths_of(const std::string&) {
    return std::vector<model::WorkerDeath>();
  }

  /// What workers did that kept attempts from them, of all workers or of one; the newest first.
  virtual Result<std::vector<model::WorkerHold>> holds_of(const std::string&, std::int32_t) {
    return std::vector<model::WorkerHold>();
  }

  /// What was noted of that worker in minutes that began then or later, oldest first; of each leader.
  virtual Result<std::vector<model::WorkerMinute>> worker_minutes(const std::string&, WallTime) {
    return std::vector<model::WorkerMinute>();
  }
  /// The same of all pools, one after the other.
  virtual Result<std::vector<model::PoolMinute>> pool_minutes(WallTime) {
    return std::vector<model::PoolMinute>();
  }

  /// Freezes, the newest first; at most 1000.
  virtual Result<std::vector<model::Freeze>> freezes() { return std::vector<model::Freeze>(); }

  /// Starts of workers that were accepted, with a higher number, the oldest first; at most 10,000.
  virtual Result<std::vector<model::WorkerStart>> starts_after(std::int64_t, std::int32_t) {
    return std::vector<model::WorkerStart>();
  }

  // --- child jobs
  /// Those below that root, by depth, parent and name.
  virtual Result<std::vector<FamilyRow>> family_of(RunId /*root*/, std::int32_t /*limit*/) {
    return std::vector<FamilyRow>();
  }
  /// What became of the children of these runs; by parent and name.
  virtual Result<std::vector<model::ChildRow>> children_of(const std::vector<RunId>& /*parents*/) {
    return std::vector<model::ChildRow>();
  }
  /// Where these runs stand in their trees, those that are of child jobs; by run.
  virtual Result<std::vector<model::ChildRow>> child_rows_of(const std::vector<RunId>& /*runs*/) {
    return std::vector<model::ChildRow>();
  }
  /// Those of the runs whose children are owed.
  virtual Result<std::vector<RunId>> owed_among(const std::vector<RunId>& /*parents*/) {
    return std::vector<RunId>();
  }

  /// What the run's attempts have said about themselves; empty: nothing.
  virtual Result<std::optional<model::RunNote>> note_of(RunId) { return std::optional<model::RunNote>(); }
  /// The checkpoints of those of the runs that have one.
  virtual Result<std::map<RunId, std::string>> checkpoints_of(const std::vector<RunId>&) {
    return std::map<RunId, std::string>();
  }

  /// Gaps of a job, those with the latest ticks first.
  virtual Result<std::vector<model::Gap>> newest_gaps_of(JobId job, std::int32_t limit) = 0;

  /// Gaps of one version of a job that begin at or before that moment, the latest first.
  virtual Result<std::vector<model::Gap>> gaps_before(JobId job, JobVersion version, WallTime at,
                                                      std::int32_t limit);
  /// Terms up to that one, the newest first. Those of masters of before are not stored.
  virtual Result<std::vector<TermRow>> terms_through(Epoch, std::int32_t) { return std::vector<TermRow>(); }

  /// Of the jobs that are saved now. Reads every gap row that retention has left: for people, not for loops.
  virtual Result<std::vector<GapSum>> sum_gaps(const GapQuery&) { return std::vector<GapSum>(); }

  // For output that comes in.
  /// Those of the runs that are stored.
  virtual Result<std::vector<RunId>> runs_among(const std::vector<RunId>& runs) = 0;
  /// Up to this one retention may have deleted runs; 0: it has deleted none.
  virtual Result<RunId> runs_gone_through() = 0;

  // For verify, which shares nothing else with the leader's path.
  virtual Result<std::optional<core::Watermark>> watermark() = 0;
  /// The newest version of each semaphore whose name begins so, by name; deleted ones are left out.
  virtual Result<std::vector<model::SemaphoreRow>> list_semaphores(const std::string&, const std::string&,
                                                                   std::int32_t) {
    return std::vector<model::SemaphoreRow>();
  }
  /// All versions that were stored under that name, oldest first, also of deleted semaphores.
  virtual Result<std::vector<model::SemaphoreRow>> semaphore_versions(const std::string&,
                                                                      const std::string&) {
    return std::vector<model::SemaphoreRow>();
  }
  /// The newest limits of each pool, or of each namespace, by name.
  virtual Result<std::vector<model::QuotaRow>> list_quotas(model::QuotaOf, std::int32_t) {
    return std::vector<model::QuotaRow>();
  }
  /// All versions of the limits of that pool or namespace, oldest first.
  virtual Result<std::vector<model::QuotaRow>> quota_versions(model::QuotaOf, const std::string&) {
    return std::vector<model::QuotaRow>();
  }
  /// The newest version of each setting that was ever set, by name.
  virtual Result<std::vector<model::SettingRow>> newest_settings() {
    return std::vector<model::SettingRow>();
  }
  /// All versions of that setting, or of all with an empty name: by name, oldest first.
  virtual Result<std::vector<model::SettingRow>> setting_versions(const std::string&) {
    return std::vector<model::SettingRow>();
  }
  /// The newest first; `open`: only those that are not settled.
  virtual Result<std::vector<model::Notification>> list_notifications(bool /*open*/, std::int32_t /*limit*/) {
    return std::vector<model::Notification>();
  }
  /// Those with greater ids, in the order of ids.
  virtual Result<std::vector<model::Notification>> notifications_after(std::int64_t /*id*/,
                                                                       std::int32_t /*limit*/) {
    return std::vector<model::Notification>();
  }
  /// Rows of wanted numbers of workers, the newest first: of that pool, or of all with an empty name; with
  /// smaller ids, unless 0.
  virtual Result<std::vector<model::ScaleChange>> list_scaling(const std::string& /*pool*/,
                                                               std::int64_t /*before*/,
                                                               std::int32_t /*limit*/) {
    return std::vector<model::ScaleChange>();
  }
  /// What was told of jobs whose expectations were not met, the newest first. Of that job alone, unless 0;
  /// of that namespace alone, unless empty; not before `since`.
  virtual Result<std::vector<model::LateRow>> list_late(JobId, const std::string& /*space*/,
                                                        WallTime /*since*/, std::int32_t /*limit*/) {
    return std::vector<model::LateRow>();
  }
  /// All of one job.
  virtual Result<std::vector<model::LateRow>> late_of(JobId) { return std::vector<model::LateRow>(); }
  /// The marks of the Terms that tell such things.
  virtual Result<std::vector<model::LateRow>> late_terms() { return std::vector<model::LateRow>(); }
  /// How long it takes; empty: not noted.
  virtual Result<std::optional<model::JobPace>> pace_of(JobId) { return std::optional<model::JobPace>(); }
  /// What all Terms knew of receivers, by epoch and name.
  virtual Result<std::vector<model::ReceiverRow>> receivers() { return std::vector<model::ReceiverRow>(); }
  /// From when on every leader has stored what edits of calendars took away; empty: the present one does not.
  virtual Result<std::optional<WallTime>> edits_told_from() {
    return std::optional<WallTime>(wall_from_ms(0));
  }
  /// Oldest first.
  virtual Result<std::vector<PastRewind>> rewinds() { return std::vector<PastRewind>(); }
  virtual Result<std::vector<model::JobVersionRow>> versions_of(JobId job) = 0;
  virtual Result<std::vector<model::Job>> saved_jobs(JobId after, std::int32_t limit) = 0;
  /// Tick runs of a job with tick in (after, through], ordered by tick.
  virtual Result<std::vector<model::Run>> tick_runs_of(JobId job, WallTime after, WallTime through,
                                                       std::int32_t limit) = 0;
  virtual Result<std::vector<model::Gap>> gaps_of(JobId job) = 0;
  /// All runs in id order (for the fencing and overlap checks), a page at a time.
  virtual Result<std::vector<model::Run>> runs_after(RunId after, std::int32_t limit) = 0;
  virtual Result<std::vector<model::AttemptRow>> attempts_after(RunId run, AttemptNo attempt,
                                                                std::int32_t limit) = 0;
  /// Those of the runs whose output was deleted by retention, and when.
  virtual Result<std::map<RunId, WallTime>> pruned_among(const std::vector<RunId>& runs) = 0;
  /// Those of the runs that have not ended, and that the next leader would not find all the same.
  virtual Result<std::vector<RunId>> unlisted_among(const std::vector<RunId>&) {
    return std::vector<RunId>();
  }
  // Of many jobs in one question, for a store of hundreds of thousands; `jobs` in order, at most 1,000.
  /// By job and version.
  virtual Result<std::vector<model::JobVersionRow>> versions_of_jobs(const std::vector<JobId>& jobs) = 0;
  /// By job and tick, in (after, through]. As many as the limit: of the last job, and of those behind it,
  /// there may be more.
  virtual Result<std::vector<model::Run>> tick_runs_of_jobs(const std::vector<JobId>& jobs, WallTime after,
                                                            WallTime through, std::int32_t limit) = 0;
  /// By job; likewise.
  virtual Result<std::vector<model::Gap>> gaps_of_jobs(const std::vector<JobId>& jobs,
                                                       std::int32_t limit) = 0;
  virtual Result<std::map<JobId, WallTime>> gone_through_of_jobs(const std::vector<JobId>& jobs) = 0;
  virtual Result<std::int64_t> count_saved_jobs() = 0;
  /// Runs of one job beyond `after`, in order.
  virtual Result<std::vector<model::Run>> runs_of_job_after(JobId job, RunId after, std::int32_t limit) = 0;
  /// Its runs up to `last`, the newest first.
  virtual Result<std::vector<model::Run>> runs_of_job_up_to(JobId job, RunId last, std::int32_t limit) = 0;
  /// Up to here retention may have deleted rows of the job's ticks; nothing: it has deleted none.
  virtual Result<std::optional<WallTime>> gone_through(JobId job) = 0;
};

inline Result<std::vector<model::Gap>> Reader::gaps_before(JobId job, JobVersion version, WallTime at,
                                                           std::int32_t limit) {
  auto all = gaps_of(job);
  if (!all) return all;
  std::erase_if(*all, [&](const model::Gap& gap) { return gap.version != version || gap.from > at; });
  std::reverse(all->begin(), all->end());
  if (all->size() > static_cast<std::size_t>(limit)) all->resize(static_cast<std::size_t>(limit));
  return all;
}

inline Result<std::map<std::string, KeyedRun>> Reader::runs_of_keys(
    const std::string& principal, const std::vector<std::string>& keys) {
  std::map<std::string, KeyedRun> out;
  for (const std::string& key : keys) {
    KeyedRun used;
    const auto run = run_of_key(principal, key, &used.request_hash);
    if (!run) return fail(run.error());
    if (!*run) continue;
    used.run = **run;
    out.emplace(key, std::move(used));
  }
  return out;
}

}  // namespace rota::master::store
