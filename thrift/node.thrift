/**
 * Masters with their figures, what workers did minute by minute, and how far the slots of pools reach. The methods
 * stand in JobService (job.thrift).
 */
include "worker_info.thrift"

namespace cpp rota.thrift
namespace py rota.node

/** A master, as it says itself; what it did not say is unset: it does not answer, or is of an older version. */
struct MasterNode {
  1: string id,
  2: string address,
  3: bool leads,
  /** "leader", "follower", or "silent": it is registered and did not answer. */
  4: string state,
  /** Why it is silent, or what its self check found; empty: nothing. */
  5: string why,
  6: string elector,
  7: string database,
  8: optional string version,
  9: optional i64 started_ms,
  /** Of its host: CPU in the last seconds, memory in use. */
  10: optional i32 cpu_percent,
  11: optional i32 memory_percent,
  /** Where its state folder lies. */
  12: optional i64 disk_free_bytes,
  /** Of its process. */
  13: optional i32 threads,
  14: optional i64 resident_bytes,
  /** How old these figures are. */
  15: optional i64 figures_age_ms,
  /** How long its answer took: it was alive then. */
  16: optional i64 answered_in_ms,
  /** Where its status page is: host:port; empty: it has none. */
  17: string page
}

struct HistoryQuery {
  1: string worker,
  /** Minutes that began then or later; 0: as many as are kept. */
  2: i64 since_ms
}

/** What a worker did in one minute. */
struct NodeMinute {
  1: i64 minute_ms,
  /** At the last look of the minute. */
  2: string state,
  /** Averages; unset: it told no figures. */
  3: optional i32 cpu_percent,
  4: optional i32 memory_percent,
  5: optional i32 load_percent,
  /** The most. */
  6: optional i32 cpu_most_percent,
  /** The least. */
  7: optional i64 disk_free_bytes,
  /** The most. */
  8: optional i32 threads,
  9: i32 slots,
  /** Attempts under way, the average. */
  10: double running,
  /** Attempts that it was given, and how those ended that did. */
  11: i64 scheduled,
  12: i64 succeeded,
  13: i64 failed
}

struct NodeHistory {
  1: string worker,
  /** Oldest first; a minute without a row is one that nobody noted. */
  2: list<NodeMinute> minutes,
  /** How long minutes are kept. */
  3: i64 keep_ms
}

/** An attempt that runs on a worker, with what it uses. */
struct RunUsage {
  1: i64 run,
  2: i32 attempt,
  3: worker_info.Usage usage
}

/** Slots of a pool, of workers that get runs. */
struct PoolCapacity {
  /** Empty: all pools. */
  1: string pool,
  2: i32 workers,
  /** Averages of the newest minute. */
  3: double slots,
  4: double used,
  /** In all minutes that are kept. */
  5: i64 used_most,
  6: double free_percent,
  /** Less than the reserve is free now. */
  7: bool below_reserve,
  /** It is so for 15 minutes and more: since then. */
  8: optional i64 short_since_ms,
  /** Minutes that are known, and when the last one began. */
  9: i64 minutes,
  10: i64 newest_ms,
  /** Slots in use a day more, by the line through these minutes; unset: there is not enough history. */
  11: optional double growth_per_day,
  /** When less than the reserve is free, and when no slot is, at this growth; unset: not within a year. */
  12: optional i64 reserve_ends_ms,
  13: optional i64 slots_end_ms
}

struct CapacityReport {
  /** All of them first, then by name. */
  1: list<PoolCapacity> pools,
  2: i32 reserve_percent,
  /** Growth is told from so many minutes on. */
  3: i64 least_minutes
}
