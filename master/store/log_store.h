// Output of attempts: chunks at fixed offsets of a stream. It does not go through the loop and is not fenced,
// because no decision depends on a chunk. One contract suite runs on every implementation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"
#include "common/model/worker.h"

namespace rota::master::store {

enum class LogStream : std::uint8_t { Out = 1, Err = 2 };

struct LogChunk {
  model::AttemptKey attempt;
  LogStream stream = LogStream::Out;
  std::int64_t offset = 0;      ///< of its first byte within the stream
  std::string bytes;            ///< at most 64 KiB; may hold anything
  std::uint32_t crc32 = 0;      ///< of bytes (zlib's)
  WallTime received{};
  std::int64_t dropped_before = 0;  ///< bytes cut between the last chunk and this one (output cap)
};

/// The longest possible stream: 64 PiB, months of a job that prints as fast as a machine can. An offset
/// beyond it is invented.
inline constexpr std::int64_t kMostStreamBytes = std::int64_t{1} << 56;

/// When a part of a slice reached the worker.
struct LogPiece {
  std::int64_t offset = 0;
  std::int64_t length = 0;
  WallTime received{};
};

struct LogSlice {
  std::string bytes;
  std::int64_t next_offset = 0; ///< where to read on. In a hole: where the next stored byte is
  std::int64_t stored_end = 0;  ///< end of what is stored without a hole from offset 0 on
  bool gap = false;             ///< a hole follows `bytes`: not stored (yet), though later ones are
  std::int64_t dropped = 0;     ///< bytes in this slice's range that the cap removed
  std::vector<LogPiece> pieces; ///< of `bytes`, in order
};

/// What stands of one stream.
struct StoredStream {
  model::AttemptKey attempt;
  LogStream stream = LogStream::Out;
  std::int64_t end = 0;         ///< of what is stored without a hole from offset 0 on
  std::int64_t last = 0;        ///< end of its last chunk, behind a hole or not
};

/// Thread: any.
class LogStore {
 public:
  virtual ~LogStore() = default;
  /// Once, before the first use. Unavailable, naming what stands in the way.
  virtual Result<void> prepare() { return {}; }
  /// Stores the chunks; the same chunk again changes nothing. Gives the stored end of each chunk's
  /// stream, in order. InvalidArgument for a size or an offset that can not be, Corrupt when bytes and CRC
  /// disagree, Conflict when the key holds other content; then none of the call's chunks is stored.
  /// Unavailable, TimedOut, UnknownOutcome: send the same chunks again.
  virtual Result<std::vector<std::int64_t>> append(const std::vector<LogChunk>& chunks) = 0;
  /// Bytes from `offset` on, at most `limit` and possibly fewer; never across a hole. An offset beyond
  /// the end gives an empty slice. In a hole: no bytes, gap, and the caller either asks again at the
  /// same offset or, when it no longer waits for them, goes on at next_offset.
  virtual Result<LogSlice> read(model::AttemptKey attempt, LogStream stream, std::int64_t offset,
                                std::int64_t limit) = 0;

  /// What stands of these runs (at most 1,000), in the order of attempts and streams; nothing of a stream
  /// that has no chunk. It is read from where it is kept, whatever this master may remember. Not the
  /// chunks' content: that is what read() looks at.
  virtual Result<std::vector<StoredStream>> stored_of(const std::vector<RunId>& runs) = 0;

  // For retention.
  /// Runs beyond `after` that have chunks, in order, at most `limit` (1 to 10,000).
  virtual Result<std::vector<RunId>> runs_with_logs(RunId after, std::int32_t limit) = 0;
  /// How many bytes each of these runs has in the store, in order; 0 for one that has none. What is packed
  /// may be counted as it was before.
  virtual Result<std::vector<std::int64_t>> bytes_of(const std::vector<RunId>& runs) = 0;
  /// Deletes up to `most` chunks (or files) of these runs. True when some may be left. Repeating is
  /// harmless.
  virtual Result<bool> erase(const std::vector<RunId>& runs, std::int32_t most) = 0;
};

}  // namespace rota::master::store
