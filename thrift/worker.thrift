/** What the leader asks a worker. A worker refuses an epoch lower than the highest that it knows. */
include "common.thrift"
include "job.thrift"

namespace cpp rota.thrift
namespace py rota.worker

struct HelloRequest {
  1: i64 epoch,
  /** Where to report, renew and send log lines: host:port. */
  2: string leader,
  3: string cluster_uuid,
  4: string worker_id,
  5: string incarnation,
  /** How long an answered `renew` vouches; the worker counts from the time of sending. */
  6: optional i64 grant_ms
}

/** One line of an inventory. */
struct HeldAttempt {
  1: common.AttemptKey attempt,
  /** "running", "finished" (not acknowledged yet) or "tombstone". */
  2: string state,
  3: i64 started_ms,
  4: optional common.Outcome outcome
}

/** Everything that the worker holds. */
struct Inventory {
  1: common.WorkerKey worker,
  /** The highest epoch that the worker has ever seen; if the asker's is lower, its Term is over. */
  2: i64 highest_epoch,
  3: list<HeldAttempt> attempts,
  /** Whether it drains, what a leader last told it about that, and the number of that command. */
  4: optional bool draining,
  5: optional bool drain_told,
  6: optional i64 drain_order,
  /** How many works it keeps, and of what size in all: the leader sends each once, and then its hash (SharedWork).
   * Unset: it keeps none. */
  7: optional i32 most_works,
  8: optional i64 most_work_bytes
}

/** What some of a call's attempts run. */
struct SharedWork {
  /** SHA-256 of the work as it is written here, 32 bytes. */
  1: binary hash,
  /** Unset: the worker has been sent it before. */
  2: optional job.Work work
}

struct DispatchItem {
  1: common.AttemptKey attempt,
  2: i64 job,
  3: i32 job_version,
  4: string job_name,
  5: string space,
  6: string kind,
  7: optional i64 tick_ms,
  8: i64 scheduled_ms,
  /** Durations. */
  9: i64 timeout_ms,
  10: i64 kill_grace_ms,
  11: i64 disconnect_grace_ms,
  /** Unset: `shared` says it. */
  12: optional job.Work work,
  /** The run's parameters, already merged over the job's; with `shared` only the run's own. */
  13: map<string, string> parameters,
  /** The names of the schedule's entries that were due at the tick, separated by commas. */
  14: string schedule,
  /** The latest checkpoint of this run's earlier attempts. */
  20: optional binary checkpoint,
  /** It runs this one of the call's `works`, counted from 0, whose parameters lie below those here. */
  21: optional i32 shared,
  /** Of a child job's run: the run whose end began it, and how that ended. */
  22: optional i64 parent,
  23: optional string parent_state,
  /** What it takes of the worker while it is there: slots (unset: one), and amounts of what the worker offers. */
  24: optional i32 slots,
  25: optional map<string, i64> needs
}

struct DispatchRequest {
  1: i64 epoch,
  2: string worker_id,
  3: string incarnation,
  4: list<DispatchItem> items,
  /** Only for a worker that keeps works. */
  5: optional list<SharedWork> works
}

struct DispatchAnswer {
  1: common.AttemptKey attempt,
  2: bool accepted,
  /** "none", "wrong_life", "old_epoch", "no_voucher", "no_slot", "draining", "tombstoned", "unknown_handler" or "malformed".
   * "unknown_definition" decides nothing: the leader sends the attempt again, with its work. */
  3: string refusal,
  4: string detail
}

struct CancelRequest {
  1: i64 epoch,
  2: string worker_id,
  3: string incarnation,
  4: list<common.AttemptKey> attempts,
  5: i64 grace_ms
}

/** An operator drains the worker, or resumes it. */
struct DrainRequest {
  1: i64 epoch,
  2: string worker_id,
  3: string incarnation,
  4: bool draining,
  /** Grows with each command, also across leaders: a late command does not count. Unset: it always counts. */
  5: optional i64 order
}

service WorkerService {
  /** A leader presents itself. The worker keeps the epoch on disk, then says what it holds. */
  Inventory hello(1: HelloRequest request) throws (1: common.RotaError error),
  /** Starts attempts. An attempt that the worker already holds is accepted again and changes nothing. */
  list<DispatchAnswer> dispatch(1: DispatchRequest request) throws (1: common.RotaError error),
  /** Kills these attempts; others than those it holds are ignored. Their ends come as reports. */
  void cancel(1: CancelRequest request) throws (1: common.RotaError error),
  Inventory inventory(1: HelloRequest request) throws (1: common.RotaError error),
  /** While draining, it accepts nothing new. The worker's node says what it was told last. */
  void drain(1: DrainRequest request) throws (1: common.RotaError error)
}
