/** Freezes. The methods stand in JobService (job.thrift). */
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
