/** Workers as masters show them, and what they have used. */
include "common.thrift"

namespace cpp rota.thrift
namespace py rota.worker_info

/** What a running attempt has used so far, with everything that it started. */
struct Usage {
  1: i64 cpu_us,
  /** Resident now. */
  2: i64 memory_bytes,
  3: i64 processes,
  /** How old these figures are. */
  4: i64 age_ms,
  /** Of one core, in the last seconds; unset: not known yet. */
  5: optional i32 cpu_percent
}

/** Load and health of a worker. */
struct WorkerVitals {
  1: i32 cpu_percent,
  2: i32 memory_percent,
  /** CPU x 0.4 + memory x 0.3 + running/slots x 0.3, smoothed. */
  3: i32 load_percent,
  4: i64 disk_free_bytes,
  5: i32 threads,
  6: i32 running,
  /** "ok", or what its self check found. */
  7: string health,
  8: i64 sampled_ms,
  /** Set by a master: figures that no host can have, which were brought into their bounds. */
  9: optional string doubt
}

/** What a worker did since midnight (UTC). */
struct WorkerDay {
  /** Attempts that it was given. */
  1: i64 scheduled,
  2: i64 succeeded,
  3: i64 failed,
  /** Not before this: what was before is not known yet. Else midnight. */
  4: i64 since_ms
}

struct WorkerDrain {
  1: string by,
  2: string why,
  3: i64 since_ms,
  /** Attempts that still run then are ended, and tried elsewhere by their loss policy. */
  4: optional i64 deadline_ms
}

struct DrainAnswer {
  /** False: it already was in that state. */
  1: bool changed,
  /** Attempts on the worker now. */
  2: i32 running
}

/** An unfinished run on a worker, and what the worker's death means for it. */
struct DeathRun {
  1: i64 run,
  2: string job_name,
  3: i32 attempt,
  /** Its job needs a confirmation (loss "confirm"). */
  4: bool asks,
  /** Another attempt follows; false: the run ends. */
  5: bool begins_again,
  /** Not before this: by then, whatever is left of the last attempt has ended. */
  6: i64 after_ms
}

struct DeathAnswer {
  /** False: nothing waited for the confirmation. */
  1: bool changed,
  2: list<DeathRun> runs
}

/** Why a worker gets nothing, or one attempt at a time. */
struct WorkerHold {
  /** "excluded" or "flapping". */
  1: string kind,
  2: string why,
  3: i64 since_ms,
  4: i64 until_ms,
  /** How many it had in a row; each is longer than the one before. */
  5: i32 strikes,
  /** Since then it gets one attempt at a time, until one succeeds. */
  6: optional i64 trial_ms
}

struct WorkerInfo {
  1: common.WorkerKey key,
  2: string host,
  3: i32 port,
  4: string pool,
  5: map<string, string> labels,
  6: i32 slots,
  7: i32 running,
  /** "registering", "online", "busy", "warning", "draining", "excluded", "flapping", "offline" or "dead". */
  8: string state,
  9: string why,
  10: string version,
  11: string kill_means,
  12: i64 started_ms,
  13: i64 dispatched_total,
  /** Set while an operator drains it. */
  14: optional WorkerDrain drain,
  /** Its latest figures; absent until it has sent some. */
  15: optional WorkerVitals vitals,
  /** Limits that the kernel enforces on its attempts: "memory", "processes", "cpus". */
  16: list<string> kernel_limits,
  /** All remarks in one text: why it is not online, since when, who drains it. */
  20: optional string remarks,
  /** When offline: since when. */
  21: optional i64 left_ms,
  /** Its node exists, but it has not answered since then. */
  22: optional i64 silent_since_ms,
  /** How old `vitals` are. */
  23: optional i64 vitals_age_ms,
  /** By which routes choose; unset: its master does not say. */
  24: optional i32 weight,
  25: optional i32 rank,
  /** It gets half of its share, and why. */
  26: optional string warning,
  /** Excluded or flapping: why, since when, and until when as planned. */
  27: optional WorkerHold hold,
  /** Its clock less the leader's. */
  28: optional i64 clock_offset_ms,
  /** How long ago it last asked for a voucher; unset: not yet in this Term. */
  29: optional i64 heartbeat_age_ms,
  /** Of the last runs of its pool, at most 1,000, how many it was given; since this Term began. */
  30: optional i32 share_given,
  31: optional i32 share_of,
  32: optional WorkerDay today,
  /** What it offers beside its slots, by name; memory in bytes. Unset: its version counts attempts alone. */
  33: optional map<string, i64> offers,
  /** Of its slots, and of what it offers: what attempts take that are stored for it and not ended. */
  34: optional i32 used_slots,
  35: optional map<string, i64> used
}

/** One life of a worker, as leaders saw it. */
struct WorkerLife {
  1: common.WorkerKey key,
  2: string host,
  3: i32 port,
  4: string pool,
  5: i64 joined_ms,
  /** Absent while its node exists. */
  6: optional i64 left_ms,
  7: string why_left
}
