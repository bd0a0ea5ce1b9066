/** What verify is asked, and what it answers. The method stands in JobService (job.thrift). */
namespace cpp rota.thrift
namespace py rota.verify

struct Check {
  1: string promise,
  2: bool ok,
  3: i64 planned,
  4: i64 fired,
  5: i64 skipped,
  6: i64 missing,
  7: i64 doubled,
  8: list<string> examples
}

struct VerifyReport {
  1: bool ok,
  2: i64 decided_through_ms,
  3: i64 max_lateness_ms,
  4: list<Check> checks,
  /** False: its time was over, and `checks` covers what was checked; the rest begins at next_place. */
  5: optional bool complete,
  6: optional string next_place,
  7: optional i64 jobs_looked_at,  // whose ticks this call checked
  8: optional i64 jobs_in_all,
  9: optional i64 runs_looked_at,
  10: optional i64 runs_through_ms // when the last checked run was recorded
}

struct VerifyRequest {
  1: string space = "default",
  /** Only this job; empty: all. */
  2: string job,
  3: optional i64 since_ms,
  4: optional string place,     // where an earlier answer stopped (next_place)
  /** The caller understands `complete`; without this, a check that does not end in time is an error. */
  5: optional bool partial,
  6: optional i64 at_most_ms    // answer after about this time, however much was checked
}
