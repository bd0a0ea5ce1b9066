/**
 * Semaphores: tokens that runs of many jobs share. Jobs name them in `uses`. The methods stand in JobService
 * (job.thrift).
 */
namespace cpp rota.thrift
namespace py rota.semaphore

/** A run that holds tokens. */
struct SemaphoreHolder {
  1: i64 run,
  2: string job,
  3: i32 tokens,
  4: string worker,
  5: i64 since_ms
}

/** Runs that wait in one queue: they ask for the same tokens, and the same workers may take them. */
struct SemaphoreLine {
  /** The run that is next, and its job. */
  1: i64 run,
  2: string job,
  /** That each of them takes. */
  3: i32 tokens,
  4: i64 runs
}

struct SemaphoreInfo {
  1: string space,
  2: string name,
  3: i32 version,
  /** Tokens; 0: closed. */
  4: i32 count,
  5: i64 changed_ms,
  6: string changed_by,
  /** Tokens that runs hold; more than `count` when that was lowered meanwhile. */
  7: i64 held,
  /** Runs that wait for its tokens. */
  8: i64 waiting,
  /** Set by get_semaphore: at most 100, and 100 lines in the order of their turns. */
  9: list<SemaphoreHolder> holders,
  10: list<SemaphoreLine> lines
}

struct SemaphoreEdit {
  1: string space = "default",
  /** Letters, digits, '_', '-', '.'; at most 64. */
  2: string name,
  /** 0 to 1,000,000. A lower count takes no token from a run that has one. */
  3: i32 count,
  /** The version from which this change was made; 0: it must be new; absent: any version. */
  4: optional i32 expected_version
}

struct SemaphoreEdited {
  1: i32 version,
  /** "created", "changed", "unchanged" or "deleted". */
  2: string what
}
