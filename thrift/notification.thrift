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

struct NotificationQuery {
  1: bool only_open,
  /** At most so many, the newest first; 0: 100. */
  2: i32 limit
}
