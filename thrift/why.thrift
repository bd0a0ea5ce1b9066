/**
 * Why a run is where it is, and what happened at one moment of a job. The methods stand in JobService (job.thrift).
 */
namespace cpp rota.thrift
namespace py rota.why

include "worker_info.thrift"

/** One of the checks that a moment, or a run, passes on its way; in their order. docs/why.md names them. */
struct WhyCheck {
  1: string name,
  /** "passed", "stopped", "not_reached" or "not_known". */
  2: string verdict,
  /** For people; empty: nothing to say. */
  3: string sentence,
  /** Who has what it waits for: runs, workers, operators. At most 10. */
  4: list<string> holders,
  /** A command of `rota` that helps or shows more; empty: none. */
  5: string command
}

/** When it was decided, and by which leader. */
struct WhyDecision {
  /** Not set: only the Term is known, since no row is stored for each moment. */
  1: optional i64 at_ms,
  /** Of the Term; 0: nobody has decided yet. */
  2: i64 epoch,
  /** The master that led; empty: not stored. */
  3: string leader,
  /** Since when it was in office. */
  4: optional i64 since_ms
}

/** Where a run stands that waits for a slot: how many would start before it as things are now. */
struct WhyPlace {
  1: string pool,
  /** From 1. */
  2: i64 place,
  3: i64 waiting,
  /** So many at least: there are more lines than were looked at. */
  4: bool is_least,
  5: i64 priority,
  6: i64 weight
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
  8: optional i32 calendar_version,
  20: optional list<WhyCheck> checks,
  21: optional WhyDecision decision,
  22: optional WhyPlace place
}

/** Why a run is in its state. */
struct Explanation {
  1: string state,
  2: string reason,
  /** A sentence for people, with the remedy if there is one. */
  3: string sentence,
  /** How old the answer is, in ms. */
  4: i64 age_ms,
  /** Set while its worker does not answer, or is gone: since when, and at about what time another attempt
   * may start. */
  10: optional i64 away_since_ms,
  11: optional i64 fence_ms,
  /** What it has used so far; unknown in the first seconds, and while its worker does not report it. */
  12: optional worker_info.Usage usage,
  20: optional list<WhyCheck> checks,
  21: optional WhyDecision decision,
  22: optional WhyPlace place
}
