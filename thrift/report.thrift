/** What a worker reports to a master. */
include "common.thrift"
include "worker_info.thrift"

namespace cpp rota.thrift
namespace py rota.report

/** What an attempt reported about itself while it ran. Only fields that are set are new. */
struct Note {
  1: i64 said_ms,
  /** 0 to 100, and a few words. */
  2: optional i32 percent,
  3: optional string text,
  /** At most 64 KiB; the run's next attempt gets the last one that was stored. */
  4: optional binary checkpoint
}

struct Report {
  1: common.AttemptKey attempt,
  /** The life that accepted it. */
  2: common.WorkerKey worker,
  /** "started" or "finished". */
  3: string what,
  4: i64 started_ms,
  5: optional common.Outcome outcome,
  20: optional Note note
}

struct ReportRequest {
  /** The life that reports. */
  1: common.WorkerKey worker,
  2: list<Report> reports,
  3: optional bool forwarded,
  /** Set together with `forwarded`, and ignored without it. */
  4: optional common.ForwardedCaller caller
}

struct LogChunk {
  1: common.AttemptKey attempt,
  /** 1 standard output, 2 standard error. */
  2: i32 stream,
  3: i64 offset,
  /** At most 64 KiB. */
  4: binary bytes,
  /** CRC-32 (zlib's) of bytes. */
  5: i64 crc32,
  6: i64 received_ms,
  /** Bytes that the output cap removed just before this chunk. */
  7: i64 dropped_before
}

/** What a running attempt has used so far, with everything that it started. */
struct AttemptUsage {
  1: common.AttemptKey attempt,
  2: worker_info.Usage usage
}

struct RenewRequest {
  1: common.WorkerKey worker,
  2: optional bool forwarded,
  /** Set together with `forwarded`, and ignored without it. */
  3: optional common.ForwardedCaller caller,
  /** Load and health of the worker, and the age of these figures. */
  10: optional worker_info.WorkerVitals vitals,
  11: optional i64 vitals_age_ms,
  /** Of running attempts, at most 200; an older worker sends up to 1,000. */
  12: optional list<AttemptUsage> usage,
  /** The worker's clock when it asked. */
  13: optional i64 clock_ms,
  /** `usage` is a part, and others follow with the next renewals. */
  14: optional bool has_part_of_usage
}

service ReportService {
  /** Stores the reports and returns those that are now stored: the worker may forget them. */
  list<common.AttemptKey> report(1: ReportRequest request) throws (1: common.RotaError error),
  /** Any master accepts log chunks. Returns the stored end of each chunk's stream, in order. */
  list<i64> append_log(1: list<LogChunk> chunks) throws (1: common.RotaError error),
  /** Asks the leader to vouch. The leader answers after an epoch check that began after the request came. */
  void renew(1: RenewRequest request) throws (1: common.RotaError error)
}
