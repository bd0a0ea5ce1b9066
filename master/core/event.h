// What enters the core. One variant; Scheduler::handle takes one at a time together with the time.
// Events carry all that a decision needs: the core asks nobody else.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/ids.h"
#include "common/model/calendar.h"
#include "common/model/freeze.h"
#include "common/model/job.h"
#include "common/model/quota.h"
#include "common/model/run.h"
#include "common/model/worker.h"
#include "common/model/zone.h"
#include "master/core/time/calendar.h"

namespace rota::master::core {

// --- time and cluster -------------------------------------------------------------------------

/// Time has passed: look at due ticks, delays and fences.
struct TimePassed {
  std::int32_t fire_at_most = 0;  ///< ticks recorded now, where the options allow more; 0: as they say
};

/// Whether every registered master can read a watermark with a slice under way. While one cannot, no slice
/// is started: all ticks of one moment go into one batch, even when there are very many.
struct MastersSeen {
  bool all_know_slices = true;
};

/// From now on no master takes office that could not read freezes, and runs that wait to be caught up. Until
/// this comes none is stored, unless it was so when the Term began (Recovered).
struct LateRowsKnown {};

/// From now on no master takes office that could not read runs of worker starts. Until this comes no job with
/// such an entry is accepted, unless it was so when the Term began (Recovered).
struct WorkerStartsKnown {};

/// From now on no master takes office that would begin no child jobs. Until this comes no job that names any
/// is accepted, unless it was so when the Term began (Recovered).
struct ChildRunsKnown {};

/// A worker's node appeared, or its data changed (same key: an update, e.g. draining).
struct WorkerSeen {
  model::WorkerInfo info;
};

/// A worker's node is gone.
struct WorkerGone {
  model::WorkerKey key;
};

/// The beats of a life that Effects::watch_beats named have ended with its session. None came after
/// `last_before` (by this master's clock): ZooKeeper saw no other change of that node before its end.
struct BeatsEnded {
  model::WorkerKey key;
  MonoTime last_before{};
};

/// A complete listing has been delivered: a worker that is not in it is absent. It is the first of a Term, or
/// one that the core asked for.
struct WorkersListed {
  std::int64_t asked = 0;  ///< the newest Effects::list_workers that this listing began after
};

/// hello was answered.
struct HelloAnswered {
  model::Inventory inventory;
};

/// hello, or the connection to a worker, failed. `refused`: the port refused, so nobody is there.
struct HelloFailed {
  model::WorkerKey worker;
  bool refused = false;
  std::string detail;
};

/// A worker refused a cancel or a drain: it knows a higher epoch. (For a dispatch its verdict says so.)
struct EpochRefused {
  model::WorkerKey worker;
};

/// A worker asks for a voucher. It is answered after the next epoch check.
struct RenewAsked {
  Token token;
  model::WorkerKey worker;
  /// How it and its attempts are doing, measured a moment ago; unset: an older worker, which does not say it.
  std::optional<model::WorkerVitals> vitals = {};
  std::vector<model::AttemptUsage> usage = {};
  std::optional<Millis> clock_offset = {};  ///< its clock less this master's; unset: it did not say its time
  bool has_part_of_usage = false;  ///< more attempts run there: what was said of those before still counts
};

// --- attempts ---------------------------------------------------------------------------------

struct DispatchVerdict {
  enum class Kind { Accepted, Refused, Unknown };
  model::AttemptKey attempt;
  Kind kind = Kind::Unknown;
  model::Refusal refusal = model::Refusal::None;
  std::string detail;
};

/// The answers to one dispatch RPC (Unknown for all of them when the RPC itself failed unclearly).
struct DispatchAnswered {
  model::WorkerKey worker;
  std::vector<DispatchVerdict> verdicts;
};

/// A worker's report; it is acknowledged only after the commit.
struct Reported {
  Token token;
  model::WorkerKey worker;              ///< the life that reports now
  std::vector<model::AttemptReport> reports;
};

// --- requests ---------------------------------------------------------------------------------

/// One saved job is created or edited. The API has validated the definition and resolved its zone.
struct ApplyJob {
  Token token;
  std::string principal;
  std::shared_ptr<const model::JobDefinition> definition;
  model::Zones zone;
  std::optional<JobVersion> expected_version;  ///< that the edit was made from; 0: must be new; unset: any
};

struct SetPaused {
  Token token;
  std::string principal;
  std::string space, name;
  bool paused = true;
  std::string why;
};

struct DeleteJob {
  Token token;
  std::string principal;
  std::string space, name;
  std::string why;
};

/// Bring a deleted job back. The API has read its rows, which the core has forgotten.
struct UndeleteJob {
  Token token;
  std::string principal;
  model::Job job;
  model::JobVersionRow version;         ///< the newest, with its definition
  model::Zones zone;
};

/// By namespace and name.
using CompiledCalendars = std::map<std::pair<std::string, std::string>, CalendarPtr>;

/// A calendar is created or edited. The API has validated and compiled it.
struct ApplyCalendar {
  Token token;
  std::string principal;
  std::string space;
  std::shared_ptr<const model::Calendar> calendar;
  CalendarPtr compiled;
  std::optional<std::int32_t> expected_version;  ///< that the edit was made from; 0: must be new; unset: any
  std::shared_ptr<const CompiledCalendars> beside = {};  ///< edited in the same call; null: none
  bool only_tell = false;                        ///< say what it would mean to its jobs, and change nothing
};

struct DeleteCalendar {
  Token token;
  std::string principal;
  std::string space, name;
  std::string why;
};

/// A semaphore gets a count, and is made when there is none.
struct SetSemaphore {
  Token token;
  std::string principal;
  std::string space, name;
  std::int32_t count = 0;
  std::optional<std::int32_t> expected_version;  ///< which was changed; 0: must be new; unset: any
};

struct DeleteSemaphore {
  Token token;
  std::string principal;
  std::string space, name;
};

/// A pool or a namespace gets other limits. What is not set stays as it is.
struct SetQuota {
  Token token;
  std::string principal;
  model::QuotaOf of = model::QuotaOf::Pool;
  std::string name;
  std::optional<std::int64_t> slots = {}, weight = {}, jobs = {}, unfinished = {}, firings = {};
  std::optional<Millis> timeout = {}, run_timeout = {}, queue_timeout = {};  ///< of a namespace; 0: none
  std::optional<std::int32_t> expected_version = {};  ///< which was changed; 0: must be new; unset: any
  std::optional<std::int64_t> min_workers = {}, max_workers = {};  ///< of a pool
  std::optional<std::string> hook = {};  ///< of a pool; empty: none
};

/// A setting gets another value; unset: what master.yaml says counts again. The name is known.
struct SetSetting {
  Token token;
  std::string principal;
  std::string name;
  std::optional<std::int64_t> value = {};
  std::string why = {};
  std::optional<std::int32_t> expected_version = {};  ///< which was changed; 0: must be new; unset: any
};

/// Run a saved job now.
struct RunNow {
  Token token;
  std::string principal;
  std::string space, name;
  std::string request_key, request_hash;
  std::shared_ptr<const model::Parameters> parameters;
};

/// One-off runs. `job` is the hash id of the definition (kOneOffBit set).
struct SubmitItem {
  JobId job;
  std::shared_ptr<const model::JobDefinition> definition;
  std::string request_key, request_hash;
  std::shared_ptr<const model::Parameters> parameters;
};
/// Why the keys of a request need not be looked up in the store: at that moment, while that Term led, they
/// were greater than each key of their kind that stood there. So only this Term can have stored them since,
/// and it remembers what it decided.
struct UnusedKeys {
  Epoch term;
  MonoTime read_at{};
};
struct SubmitRuns {
  Token token;
  std::string principal;
  std::vector<SubmitItem> items;
  std::optional<UnusedKeys> unused = {};   ///< unset: they were looked up
};

struct CancelRun {
  Token token;
  std::string principal;
  RunId run;
  std::string why;
};

/// Send this worker (all its lives) nothing new from now on; or send it work again.
struct DrainWorker {
  Token token;
  std::string principal;
  std::string worker;
  bool draining = true;
  Millis deadline{0};                   ///< then attempts that still run are handed over; 0: never
  std::string why;
};

/// Do not show a worker that is away any more.
struct ForgetWorker {
  Token token;
  std::string principal;
  std::string worker;
};

/// The operator says that this worker is dead for sure: runs of jobs that ask for this may start again.
struct ConfirmDead {
  Token token;
  std::string principal;
  std::string worker;
  std::string why;
  bool only_tell = false;               ///< say what would happen, and change nothing
};

/// Ticks do not fire until then; where the same namespace is frozen already, that lasts longer.
struct BeginFreeze {
  Token token;
  std::string principal;
  std::string space;                    ///< empty: all
  WallTime until{};
  std::string why;
};

/// The freeze of exactly this namespace is over.
struct EndFreeze {
  Token token;
  std::string principal;
  std::string space;                    ///< empty: that of all
};

/// Hold ticks from now on (the clock is too far from the database's, or the database was restored). With an
/// empty text they fire again. Held ticks are recorded late, by their jobs' policies.
struct HoldTicks {
  std::string why;
};

/// The leader found that this ZooKeeper is not the one of before, or is an older state of it. From now on its
/// listings say nothing about lives that it has never seen.
struct ZookeeperReplaced {
  std::int64_t number = 0;              ///< of the new one
};

/// A try to send a notification has ended (Effects::notifications).
struct NotificationTried {
  std::int64_t id = 0;
  bool accepted = false;
  std::string error;                    ///< what came instead; empty when it was accepted
};

/// A call of a hook has ended (Effects::hook_calls).
struct HookCalled {
  std::string pool;
  std::int64_t id = 0;
  bool accepted = false;
  std::string error;                    ///< what came instead; empty when it was accepted
};

/// Less than the reserve of a pool's slots has been free for a while, as the shell has noted.
struct CapacityLow {
  std::string words;                    ///< which pool, and how much is in use
};

/// The operator says that workers which this ZooKeeper has never seen are gone forever.
struct UnseenGone {};

using Event = std::variant<TimePassed, MastersSeen, LateRowsKnown, WorkerStartsKnown, ChildRunsKnown,
                           WorkerSeen, WorkerGone,
                           BeatsEnded,
                           WorkersListed, HelloAnswered, HelloFailed, EpochRefused, RenewAsked,
                           DispatchAnswered, Reported, ApplyJob, SetPaused, DeleteJob, UndeleteJob,
                           ApplyCalendar, DeleteCalendar, SetSemaphore, DeleteSemaphore, SetQuota, RunNow,
                           SubmitRuns, CancelRun, DrainWorker, ConfirmDead, ForgetWorker, BeginFreeze,
                           EndFreeze, HoldTicks, ZookeeperReplaced, UnseenGone,
                           NotificationTried, SetSetting, CapacityLow, HookCalled>;

}  // namespace rota::master::core
