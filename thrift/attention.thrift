/** What needs somebody now. The method stands in JobService (job.thrift). */
namespace cpp rota.thrift
namespace py rota.attention

struct AttentionRequest {
  /** Whose jobs; what concerns the whole cluster is told in any case. */
  1: string space = "default",
  /** Runs that were due, and ticks, since then; at most 400 days. */
  2: i64 since_ms
}

struct AttentionItem {
  /** "held", "health", "worker", "waits", "stuck", "failed", "missed", "late", "frozen", "calendar",
   * "capacity", "notify" or "autoscale". */
  1: string kind,
  /** "error": something stands still or may be lost until somebody acts; "warning": look at it; "info": it is meant so,
   * or is not due yet. */
  2: string level,
  /** A job, worker, calendar, namespace or part; empty: the cluster. */
  3: string subject,
  /** What is the matter, for people. */
  4: string sentence,
  /** A command of `rota` that helps or shows more; empty: none. */
  5: string command,
  6: optional i64 since_ms,
  /** How many runs or ticks, where that is what it is about. */
  7: optional i64 count,
  /** The newest of those runs, or the one that is in the way. */
  8: optional i64 run
}

struct AttentionReport {
  /** Errors first, then warnings; within a level the newest first. At most 500. */
  1: list<AttentionItem> items,
  2: string answered_by,
  /** How old the leader's part is; -1: no leader could be asked, and what only it knows is missing. */
  3: i64 age_ms
}
