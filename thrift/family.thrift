/**
 * Runs of child jobs and the trees that they make. The methods stand in JobService (job.thrift).
 */
namespace cpp rota.thrift
namespace py rota.family

/** A child of some run of a tree: what became of one name of its job's on_success, on_failure or on_end. */
struct RunRelative {
  1: i64 parent,
  /** Of the child job. */
  2: string job,
  /** 0: none began; then `reason` says why. */
  3: i64 run,
  /** "on_success", "on_failure" or "on_end". */
  4: string named_by,
  /** 1: a child of the root. */
  5: i32 depth,
  /** Empty: no run began, or retention has deleted it. */
  6: string state,
  7: string reason,
  8: optional i64 started_ms,
  9: optional i64 ended_ms
}
