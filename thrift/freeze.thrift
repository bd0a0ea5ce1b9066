/**
 * Freezes, and what happened at one moment of a job. The methods stand in JobService (job.thrift).
 */
namespace cpp rota.thrift
namespace py rota.freeze

/** A stretch in which ticks do not fire. */
struct FreezeInfo {
  1: i64 id,
  /** Empty: all namespaces. */
  2: string space,
  3: i64 from_ms,
  /** Its end: as planned, or when it was ended before. */
  4: i64 until_ms,
  5: string principal,
  6: string why,
  /** "in_force", "making_up" or "over". */
  7: string state
}

/** What happened at a moment of a job, or will happen. */
struct TickAnswer {
  /** "fired", "skipped", "frozen", "planned", "due", "not_planned", or "not_known" (deleted since, or missing). */
  1: string what,
  /** For people. */
  2: string sentence,
  /** fired, and made up for: the run. */
  3: optional i64 run,
  /** skipped and frozen. */
  4: optional string reason,
  /** The next planned tick after the moment. */
  5: optional i64 next_ms,
  /** The entry of the schedule that decided: its name, or its place from 1; of a tick of several, separated by commas. */
  6: optional string entry,
  /** The calendar that closes the moment, or whose edit or days decide; and its version. */
  7: optional string calendar,
  8: optional i32 calendar_version
}
