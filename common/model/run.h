// Runs, attempts and gaps: what happened, what did not happen, and why.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace rota::model {

/// A worker's life: the id it is configured with, and `<home>-<random hex of this start and session>`.
struct WorkerKey {
  std::string id;
  std::string incarnation;
  auto operator<=>(const WorkerKey&) const = default;
};

/// The name of a life's state folder; empty when the incarnation has none. Only a life with the same
/// home knows how an earlier life's attempts ended. Valid as long as the key.
inline std::string_view home_of(const WorkerKey& key) {
  const auto end = key.incarnation.find('-');
  return end == std::string::npos ? std::string_view() : std::string_view(key.incarnation).substr(0, end);
}

/// AfterFreeze: stands for ticks that a freeze kept from firing; it has no tick of its own, `scheduled` is
/// its logical time. WorkerStart: of an entry `@worker_start`, for one start of one worker (worker_start.h).
/// Child: of a child job, at the end of another run (child.h); `scheduled` is that one's logical time.
enum class RunKind { Tick, Manual, OneOff, AfterFreeze, WorkerStart, Child };

// Waiting     not to be dispatched now (overlap, delay after a failure, unreconciled worker ...)
// Queued      could run; no worker has a free slot
// Dispatched  stored for a worker; sent or about to be
// Running     the worker said it started
// the rest    final
// Legal: Waiting <-> Queued -> Dispatched -> Running -> final; Dispatched -> final; Dispatched and
// Running -> Waiting (retry, loss); every non-final state -> Cancelled.
enum class RunState {
  Waiting,
  Queued,
  Dispatched,
  Running,
  Succeeded,
  Failed,
  TimedOut,
  Cancelled,   ///< cancelled before any attempt started
  Killed,      ///< cancelled while running, and proven dead
  KillFailed,  ///< told to die, and not proven dead
  Lost,        ///< its worker is gone and the loss policy allows no further attempt
  Skipped,     ///< non-tick runs only: overlap or a freeze forbade it, or its worker start was over
};

constexpr bool is_final(RunState state) { return state >= RunState::Succeeded; }

/// The fixed names in the store, on the wire and in JSON ("timed_out").
std::string_view name_of(RunState state);
std::string_view name_of(RunKind kind);
std::optional<RunState> run_state_named(std::string_view name);
std::optional<RunKind> run_kind_named(std::string_view name);

/// Why a run is not running, why a tick did not fire, or how an attempt ended. Stored by name; the
/// list with remedies is docs/reasons.md.
enum class Reason {
  None,
  // waiting or queued
  NoWorkerInPool,
  AllSlotsBusy,
  WaitsForRun,          ///< overlap: queue
  RetryDelay,
  WorkerUnreconciled,   ///< its last worker has not said yet what it holds
  WaitsForFence,        ///< its last worker is away; another attempt must wait for the fence
  NamedWorkerAbsent,
  WorkersSettling,      ///< right after a takeover
  ClusterHeld,          ///< ticks are held (restored database, clock skew)
  // ticks and runs that did not fire
  OverlapSkipped,
  QueueFull,
  CoalescedInto,        ///< late: fire_once; the reference is the run that replaces them
  LateSkipped,
  // ends
  ExitStatus,
  Signalled,
  StartFailed,          ///< not found, not executable ...
  AttemptTimeout,
  CancelledByUser,
  WorkerLost,           ///< the worker went away with the attempt
  AttemptDied,          ///< worker or warden died; the attempt is proven dead
  KillUnproven,
  HandlerFailed,
  HandlerUnknown,
  RefusedByWorker,
  OutputLost,
  MemoryExceeded,       ///< limits of the job: killed for it
  ProcessesExceeded,
  CpuExceeded,
  FolderExceeded,
  FileSizeExceeded,     ///< SIGXFSZ
  WorkersDraining,      ///< queued: every worker of the pool is drained
  HandedOver,           ///< ended at the deadline of its worker's drain
  WorkerUnseen,         ///< its last worker was never seen in the present ZooKeeper: it must report first
  LossLimit,            ///< its attempts were lost with their workers as often as the job allows
  WaitsForConfirmation, ///< its worker is gone; it, or the operator, must confirm that the attempt is over
  Missed,               ///< a tick: nobody led, or ticks were held; later a run of the job was unfinished
  Jitter,               ///< waiting: its schedule spreads the start
  Frozen,               ///< a tick: its namespace was frozen; the reference is the freeze
  LateBounded,          ///< a tick: late: fire_all, and more were late than are made up for
  CalendarEdited,       ///< a tick: an edit of a calendar took its moment away
  CaughtUp,             ///< waiting: it stands for late ticks, which start at a rate, after live ones
  WorkerStartOver,      ///< its worker has started again, or went away, before the run could start (again)
  ReplacedBy,           ///< an end: a newer run of the job takes its place; the detail is that run
  RunTimeout,           ///< all attempts together took longer than the job allows
  QueueTimeout,         ///< it waited longer for its first attempt than the job allows
  WaitsForSemaphore,    ///< queued: too few tokens of a semaphore are free, or others are before it
  PoolLimit,            ///< queued: as many runs of its pool are held as that may have
  NamespaceSlots,       ///< queued: as many runs of its namespace are held as that may have
  NamespaceUnfinished,  ///< a tick: as many runs of its namespace were unfinished as that may have
  NamespaceFirings,     ///< a tick: as many runs of its namespace had begun in that minute as may
  CleanupFailed,        ///< the attempt is over, and what was to clean up behind it failed
  JobPaused,            ///< skipped: a child's job was paused when its parent ended
  NoSuchJob,            ///< no run of the child began: there was no job of that name
  ChildTooDeep,         ///< skipped: too many runs above it, so child jobs go in a circle
  NoWorkerHas,          ///< queued: no worker that could take it has its slots and needs as a whole
};
std::string_view name_of(Reason reason);
std::optional<Reason> reason_named(std::string_view name);

/// A stretch in which no process of an attempt ran, because its whole host stood still.
struct StoodStill {
  WallTime from{};                     ///< by the worker's clock, like the outcome's other moments
  WallTime to{};
  bool operator==(const StoodStill&) const = default;
};

/// How an attempt ended, as the worker knows it.
struct Outcome {
  RunState state = RunState::Failed;   ///< Succeeded, Failed, TimedOut, Killed, KillFailed or Lost
  Reason reason = Reason::None;
  std::int32_t exit_status = -1;       ///< 0..255, or -1
  std::int32_t signal = 0;
  std::string message;                 ///< for people; at most 4 KiB
  std::string result;                  ///< small result value; at most 64 KiB
  WallTime started{};                  ///< by the worker's clock
  WallTime ended{};
  std::int64_t stdout_bytes = 0;       ///< final length of each stream in the log
  std::int64_t stderr_bytes = 0;
  // What all its processes have used; unset: not known, which is not the same as nothing.
  std::optional<std::int64_t> cpu_us = {};             ///< user + system time
  std::optional<std::int64_t> peak_memory_bytes = {};
  std::optional<std::int64_t> read_bytes = {};         ///< from disks
  std::optional<std::int64_t> written_bytes = {};      ///< towards disks
  /// Set when its vouchers ended meanwhile, from that moment on: so long it was alive without running.
  std::optional<StoodStill> stood_still = {};
  bool operator==(const Outcome&) const = default;
};

/// The part of a run that changes: one UPDATE of absolute values by primary key.
struct RunProgress {
  RunState state = RunState::Waiting;
  Reason reason = Reason::None;
  std::string detail;                  ///< e.g. the run it waits for, or who cancelled it
  AttemptNo attempt = 0;               ///< number of the newest attempt; 0: none yet
  std::int32_t failures = 0;           ///< attempts that count against the retry rule (losses do not)
  std::int32_t losses = 0;             ///< attempts lost with their workers, except hand-overs
  WorkerKey worker;                    ///< of the newest attempt
  Epoch epoch;                         ///< of the Term that last wrote this row
  std::optional<WallTime> dispatched;
  std::optional<WallTime> started;
  std::optional<WallTime> ended;
  std::optional<WallTime> not_before;  ///< Waiting with RetryDelay: until then
  bool cancel_asked = false;
  /// Of the oldest attempt that another one follows, or is to follow; in its row, not in the run's.
  std::optional<WallTime> first_dispatched;
  Outcome outcome;                     ///< meaningful when final
};

using Parameters = std::map<std::string, std::string>;

/// The row `run`, with its newest attempt inside (earlier attempts are rows of `attempt`).
struct Run {
  RunId id;
  JobId job;
  JobVersion version = 0;
  RunKind kind = RunKind::Tick;
  std::string space = "default";
  std::string principal;               ///< who asked for it (Caller::principal)
  std::optional<WallTime> tick;        ///< ticks only: unique with job
  WallTime scheduled{};                ///< when it should start: the tick, or when it was asked for
  WallTime recorded{};                 ///< core time of its recording
  std::string request_key;             ///< empty: none. Unique with principal
  std::string request_hash;
  std::shared_ptr<const Parameters> parameters;  ///< override the job's; null: none
  RunProgress progress;
};

/// The row `attempt`: an attempt of a run that was tried again, or a result that came late.
struct AttemptRow {
  RunId run;
  AttemptNo attempt = 0;
  WorkerKey worker;
  Epoch epoch;
  std::optional<WallTime> dispatched;
  bool late = false;                   ///< its result came after the leader had counted it as lost
  Outcome outcome;
};

/// What an attempt reported about itself while it ran; the row `run_note` keeps the newest of its run. In a
/// report or a change only the fields that are set are new; the rest stays as it is.
struct RunNote {
  RunId run;
  AttemptNo attempt = 0;               ///< the attempt that reported it
  WallTime said{};                     ///< by the worker's clock
  std::optional<std::int32_t> percent; ///< 0 to 100
  std::string text;                    ///< goes with percent; at most 200 bytes
  std::optional<std::string> checkpoint;  ///< at most 64 KiB of any bytes
  AttemptNo checkpoint_attempt = 0;    ///< stored rows: the attempt that saved it
  WallTime checkpoint_said{};          ///< stored rows
};

/// The row `gap`: `count` ticks in [from, to] of this version that did not fire.
struct Gap {
  JobId job;
  JobVersion version = 0;
  WallTime from{};
  WallTime to{};
  std::int64_t count = 0;
  Reason reason = Reason::None;
  std::int64_t reference = 0;          ///< the run that the reason refers to, or 0
  Epoch epoch;
};

}  // namespace rota::model
