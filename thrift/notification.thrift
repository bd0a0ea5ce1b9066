/**
 * Notifications: who was told what, and how far that is. The methods stand in JobService (job.thrift).
 */
namespace cpp rota.thrift
namespace py rota.notification

struct NotificationInfo {
  /** The receiver got the same id with each try. */
  1: i64 id,
  2: string receiver,
  /** "failed", "lost", "missed", "late", "stuck", "self_paused", "worker_offline", "worker_dead", "no_leader",
      "ticks_held", "low_capacity", or "combined": it stands for `stands_for` others that were too many. */
  3: string what,
  /** Empty and 0: not of a job, a run, a worker, a tick. */
  4: string space,
  5: string job,
  6: i64 run,
  7: string worker,
  8: i64 tick_ms,
  9: string text,
  10: i64 stands_for,
  11: i64 made_ms,
  /** "open", "delivered" or "given_up". */
  12: string state,
  13: i32 attempts,
  /** 0: not settled yet. */
  14: i64 settled_ms,
  15: string last_error
}

/** An expectation of a job that was not met (`expect` in job files). */
struct LateInfo {
  1: string space,
  2: string job,
  /** "start_within", "finish_by" or "longer_than". */
  3: string what,
  /** 0: no run stands for the tick. */
  4: i64 run,
  /** 0: not of a tick. Of several ticks that did not fire, the first. */
  5: i64 tick_ms,
  /** By then it should have been; 0: longer_than. */
  6: i64 due_ms,
  7: i64 told_ms,
  /** The run's state then; of a tick without a run why it did not fire, or "paused". */
  8: string was,
  /** longer_than: so long it may have taken. */
  9: i64 limit_ms
}

struct LateQuery {
  1: string space,
  /** By name; empty: all of the namespace. */
  2: string job,
  /** At most so many, the newest first; 0: 100. */
  3: i32 limit
}

struct NotificationQuery {
  1: bool only_open,
  /** At most so many, the newest first; 0: 100. */
  2: i32 limit
}
