/** Output of attempts. The method stands in JobService (job.thrift). */
namespace cpp rota.thrift
namespace py rota.log

struct LogRequest {
  1: i64 run,
  /** 0: the newest. */
  2: i32 attempt,
  /** 1 standard output, 2 standard error. */
  3: i32 stream = 1,
  4: i64 offset,
  /** At most 1 MiB. */
  5: i32 limit_bytes = 262144,
  /** How long to wait for new output when there is none (at most 10,000). */
  6: i32 wait_ms
}

/** When a piece of a slice reached the worker. */
struct LogPiece {
  1: i64 offset,
  2: i64 length_bytes,
  3: i64 received_ms
}

struct LogSlice {
  1: binary bytes,
  2: i64 next_offset,
  /** The end of the stored stream now. */
  3: i64 stored_end,
  /** The run is final, and nothing follows: the whole stream has been sent, or missing_bytes counts what
   * is left. */
  4: bool complete,
  /** Bytes that the output cap removed in this slice's range. */
  5: i64 dropped_bytes,
  6: i32 attempt,
  /** The run has been final for 10 s, and this many bytes that its outcome names are not stored. */
  7: i64 missing_bytes,
  /** When the run's output was deleted because its time was over; then there is no wait. */
  8: optional i64 pruned_ms,
  /** Of `bytes`, in order. */
  9: list<LogPiece> pieces
}
