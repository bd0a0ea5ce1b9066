/**
 * Limits of pools and namespaces, and what is used of them. The methods stand in JobService (job.thrift).
 */
namespace cpp rota.thrift
namespace py rota.quota

/** What is not set stays as it is. -1: not limited. */
struct LimitsEdit {
  /** "pool" (slots, min_workers, max_workers and hook count), or "namespace" (the others and slots). */
  1: string side,
  /** Letters, digits, '_', '-', '.'; at most 64. */
  2: string name,
  /** Runs that workers may hold at once; 0: none starts. A lower number ends none. */
  3: optional i64 slots,
  /** 1 to 1000: its share of free slots. */
  4: optional i64 weight,
  /** Saved jobs. */
  5: optional i64 jobs,
  /** Unfinished runs. */
  6: optional i64 unfinished,
  /** Runs that begin in one minute. */
  7: optional i64 firings,
  /** The version from which this change was made; 0: it must have none; absent: any version. */
  8: optional i32 expected_version,
  /** Of a namespace: times of its jobs that do not say them, of an attempt, a run and its wait; 0: none. */
  9: optional i64 timeout_ms,
  10: optional i64 run_timeout_ms,
  11: optional i64 queue_timeout_ms,
  /** Of a pool: how many workers it should have at least and at most; -1: not set. */
  12: optional i64 min_workers,
  13: optional i64 max_workers,
  /** Of a pool: a hook in the masters' settings that is called when that number changes; empty: none. */
  14: optional string hook
}

struct LimitsEdited {
  1: i32 version,
  /** "changed" or "unchanged". */
  2: string what
}

struct LimitsInfo {
  1: string side,
  2: string name,
  /** 0: no limits were ever set. */
  3: i32 version,
  4: i64 changed_ms,
  5: string changed_by,
  /** The limits, as in LimitsEdit. */
  6: i64 slots = -1,
  7: i64 weight = 1,
  8: i64 jobs = -1,
  9: i64 unfinished = -1,
  10: i64 firings = -1,
  /** Runs that workers hold, and runs that wait for a slot. */
  11: i64 running,
  12: i64 waiting,
  /** Of a namespace. */
  13: i64 jobs_now,
  14: i64 unfinished_now,
  /** Of a namespace with such a limit: runs that began in this minute. */
  15: i64 firings_now,
  /** Of a pool: workers that are here, and their slots. */
  16: i32 workers,
  17: i64 worker_slots,
  /** Of a namespace, as in LimitsEdit. */
  18: i64 timeout_ms,
  19: i64 run_timeout_ms,
  20: i64 queue_timeout_ms,
  /** Of a pool, as in LimitsEdit. */
  21: i64 min_workers = -1,
  22: i64 max_workers = -1,
  23: string hook,
  /** Of a pool: how many workers it should have, and why (autoscale.thrift); -1: not known. */
  24: i64 wanted_workers = -1,
  25: string wanted_reason
}
