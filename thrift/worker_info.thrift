/** Workers as masters show them, and what they have used. */
include "common.thrift"

namespace cpp rota.thrift
namespace py rota.worker_info

/** What an attempt that runs has used so far, with all that it started. */
struct Usage {
  1: i64 cpu_us,
  /** Resident now. */
  2: i64 memory_bytes,
  3: i64 processes,
  /** How old these figures are. */
  4: i64 age_ms
}

/** How a worker fares. */
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
  8: i64 sampled_ms
}

struct WorkerDrain {
  1: string by,
  2: string why,
  3: i64 since_ms,
  /** What still runs then is ended, and tried elsewhere by its loss policy. */
  4: optional i64 deadline_ms
}

struct DrainAnswer {
  /** False: it was so already. */
  1: bool changed,
  /** Attempts on the worker now. */
  2: i32 running
}

/** What is under way on a worker, and what its death means for it. */
struct DeathRun {
  1: i64 run,
  2: string job_name,
  3: i32 attempt,
  /** Its job waits for a confirmation (loss "confirm"). */
  4: bool asks,
  /** Another attempt follows; false: the run ends. */
  5: bool begins_again,
  /** Not before: what of the last attempt may live yet has ended by then. */
  6: i64 after_ms
}

struct DeathAnswer {
  /** False: nothing waited for it. */
  1: bool changed,
  2: list<DeathRun> runs
}

struct WorkerInfo {
  1: common.WorkerKey key,
  2: string host,
  3: i32 port,
  4: string pool,
  5: map<string, string> labels,
  6: i32 slots,
  7: i32 running,
  /** "registering", "online", "busy", "draining" or "offline". */
  8: string state,
  9: string why,
  10: string version,
  11: string kill_means,
  12: i64 started_ms,
  13: i64 dispatched_total,
  /** Set while an operator drains it. */
  14: optional WorkerDrain drain,
  /** As it last said; absent until it has. */
  15: optional WorkerVitals vitals,
  /** Limits that the kernel holds its attempts to: "memory", "processes", "cpus". */
  16: list<string> kernel_limits,
  /** All that is to be said of it in one text: why it is not online, since when, who drains it. */
  20: optional string remarks,
  /** Offline: since when. */
  21: optional i64 left_ms,
  /** Its node is there, and it has not answered since then. */
  22: optional i64 silent_since_ms,
  /** How old `vitals` are. */
  23: optional i64 vitals_age_ms
}

/** One life of a worker, as the leaders saw it. */
struct WorkerLife {
  1: common.WorkerKey key,
  2: string host,
  3: i32 port,
  4: string pool,
  5: i64 joined_ms,
  /** Absent while its node is there. */
  6: optional i64 left_ms,
  7: string why_left
}
