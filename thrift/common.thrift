/**
 * Types that all of Rota's services share. All times are milliseconds since 1970-01-01 UTC unless
 * the name says otherwise; durations also end in _ms, and their comment says so. Ids are 64-bit.
 * Fields are only ever added, with new numbers; readers ignore unknown fields.
 */
namespace cpp rota.thrift
namespace py rota

/** The kind of error; the client's exit statuses follow from it. */
enum ErrorKind {
  /** The input is wrong; the message names place, value and remedy. */
  INVALID_ARGUMENT = 1,
  NOT_FOUND = 2,
  ALREADY_EXISTS = 3,
  /** A stale version, or a used request key with other content. */
  CONFLICT = 4,
  DENIED = 5,
  /** Certainly not done. `leader` names the leader if it is known. */
  NOT_LEADER = 6,
  /** A server that is needed does not answer; certainly not done. */
  UNAVAILABLE = 7,
  /** A bounded queue is full; certainly not done; repeat after `retry_after_ms`. */
  OVERLOADED = 8,
  TIMED_OUT = 9,
  /** It may or may not have been done: repeat with the same request key. */
  UNKNOWN_OUTCOME = 10,
  /** The sender's epoch is over. */
  FENCED = 11,
  CORRUPT = 12,
  UNSUPPORTED = 13,
  INTERNAL = 14,
  /** A limit of the namespace is reached; certainly not done; the same request may be repeated later. */
  LIMIT_REACHED = 15
}

/** The one exception of every method. */
exception RotaError {
  1: ErrorKind kind,
  2: string message,
  /** host:port of the leader, for NOT_LEADER; empty when unknown. */
  3: string leader,
  /** How long to pause before a repeat; 0: no pause. */
  4: i32 retry_after_ms
}

/**
 * Who asked the master that passes a request on. It names the client in the leader's log. What the
 * client may do does not travel: the leader decides that itself.
 */
struct ForwardedCaller {
  1: string principal,
  /** host:port of the client's end of its connection to that master. */
  2: string address
}

/** Who asks; empty until authentication is configured. */
struct RequestHead {
  1: optional string token,
  /** How long the caller will wait, in ms; 0: the server's default. */
  2: optional i32 deadline_ms,
  /** A follower passes the request to the leader, one hop, instead of answering NOT_LEADER. */
  3: optional bool forward,
  /** Set by a forwarding follower; such a request is not passed on again. */
  4: optional bool forwarded,
  /** Set together with `forwarded`, and ignored without it. */
  5: optional ForwardedCaller caller
}

/** One life of a worker: its configured id and the random name of this start and session. */
struct WorkerKey {
  1: string id,
  2: string incarnation
}

/** One try of a run; the first is number 1. */
struct AttemptKey {
  1: i64 run,
  2: i32 attempt
}

/** How an attempt ended, as its worker knows it. States and reasons are fixed names; docs/ lists them. */
struct Outcome {
  1: string state,
  2: string reason,
  /** 0 to 255, or -1 when it did not exit. */
  3: i32 exit_status = -1,
  /** The signal that ended it, or 0. */
  4: i32 signal,
  5: string message,
  /** A small result value of at most 64 KiB. */
  6: binary result,
  7: i64 started_ms,
  8: i64 ended_ms,
  /** Final length of each stream in the log. */
  9: i64 stdout_bytes,
  10: i64 stderr_bytes,
  11: i64 cpu_us,
  12: i64 peak_memory_bytes,
  /** Read from and written to disks by all of the attempt's processes. */
  13: i64 read_bytes,
  14: i64 written_bytes,
  /** Which of these four are unknown and have the value 0: the sum of 1 for cpu_us, 2 for peak_memory_bytes,
      4 for read_bytes and 8 for written_bytes. Unset: all are known. */
  15: optional i32 unknown_costs,
  /** Between these two moments no process of the attempt ran, because its whole host stood still. The first
      is not before the end of its vouchers. Both or neither. */
  16: optional i64 stood_still_from_ms,
  17: optional i64 stood_still_to_ms
}
