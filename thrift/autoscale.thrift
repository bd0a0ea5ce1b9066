/**
 * How many workers pools should have, and what their hooks were told. The methods stand in JobService (job.thrift).
 */
namespace cpp rota.thrift
namespace py rota.autoscale

/** One change of a pool's wanted number, or another call of its hook. */
struct ScaleChangeInfo {
  /** The hook gets it as `sequence`, the same with each try; higher in later ones. */
  1: i64 id,
  2: string pool,
  3: i64 before,
  4: i64 wanted,
  /** Workers that were here, those that leave aside. */
  5: i64 present,
  /** "load", "queue", "minimum", "maximum", "hook", "drained" or "worker_dead". */
  6: string reason,
  /** Empty: the pool had none. */
  7: string hook,
  /** Ids of workers that the hook may stop. */
  8: list<string> stoppable,
  9: i64 made_ms,
  /** "open", "delivered", "given_up", "replaced" or "no_hook". */
  10: string state,
  11: i32 attempts,
  /** 0: not settled yet. */
  12: i64 settled_ms,
  13: string last_error,
  /** The Term that decided it. */
  14: i64 epoch,
  /** Workers that drained and could not be stopped yet. */
  15: i64 leaving
}

/** What is wanted of a pool now. */
struct PoolScaleInfo {
  1: string pool,
  2: i64 wanted,
  /** Why it is, or stays, that number: as in ScaleChangeInfo, or "steady", "cool_down", "unknown". */
  3: string reason,
  /** Workers, those that leave aside. */
  4: i64 here,
  /** That drain since fewer are wanted. */
  5: i64 leaving,
  /** Slots in use and runs that wait, averaged; and that in percent of the slots that are there. */
  6: double demand,
  7: double load_percent,
  8: i64 min_workers,
  9: i64 max_workers,
  /** Somebody has set a limit or a hook: changes are stored. */
  10: bool is_scaled,
  11: string hook,
  12: i64 changed_ms,
  13: list<string> stoppable,
  /** The last change, or call; without one its id is 0. */
  14: ScaleChangeInfo newest
}

struct ScaleQuery {
  /** Empty: all. */
  1: string pool,
  /** Only smaller ids; 0: from the newest on. */
  2: i64 before,
  /** At most so many, the newest first; 0: 100. */
  3: i32 limit
}
