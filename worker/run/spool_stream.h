// One stream of one attempt on disk: a data file, into which the pipe is spliced, and an index that
// fixes the borders of the log chunks before any of them is sent. The kernel moves the bytes, so that a
// crash of the proper loses none: the size of the data file says how far it came.
//
// Offsets in the data file are those of the job's own output ("raw"). Beyond the output cap the first
// cap - tail bytes and the last tail bytes are kept; what is between is punched out of the file and
// only counted. The store knows a chunk by its raw offset and the bytes dropped before it; "log" offsets
// count what is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/base/unique_fd.h"

namespace rota::worker::run {

struct StreamLimits {
  std::int64_t cap_bytes = 64ll << 20;
  std::int64_t chunk_bytes = 65'536;
  Millis chunk_age{200};             ///< a shorter chunk is closed when its first byte is so old

  /// What is kept of the end when there is more than the cap.
  std::int64_t tail_bytes() const;
  std::int64_t head_bytes() const { return cap_bytes - tail_bytes(); }
};

/// One line of the index: a chunk, fixed forever.
struct ChunkBorder {
  std::int64_t raw_offset = 0;
  std::int64_t log_offset = 0;
  std::int64_t dropped_before = 0;
  std::int64_t received_ms = 0;
  std::uint32_t length = 0;
  std::uint32_t crc32 = 0;           ///< zlib's
};
inline constexpr std::size_t kBorderBytes = 48;

/// 48 bytes with their own check sum; decode gives nothing for torn or altered ones.
std::string encode_border(const ChunkBorder& border);
std::optional<ChunkBorder> decode_border(std::string_view bytes);

/// The names of a stream's two files.
struct StreamPath {
  std::string data;
  std::string index;
};

/// Owner: the runner, while bytes may come. Thread: one at a time.
class SpoolStream {
 public:
  /// Makes the files, or goes on where an earlier life stopped. Unavailable when the disk refuses.
  static Result<std::unique_ptr<SpoolStream>> open(const StreamPath& path, StreamLimits limits);

  /// What one reading of the pipe has brought.
  struct PipeRead {
    std::int64_t bytes = 0;
    bool at_end = false;             ///< every writer has closed the pipe
    bool is_empty = false;           ///< nothing left for now
  };
  /// Moves up to `budget` bytes out of the pipe, without waiting. A full disk never stops it: where
  /// nobody makes room, from then on the bytes are read and only counted.
  PipeRead read_pipe(int pipe, std::int64_t budget, MonoTime now);

  /// Fixes the borders of all whole chunks, and of a shorter one that is due. How many were made.
  Result<int> fix_borders(Now now);
  /// When fix_borders has something to do.
  std::optional<MonoTime> border_due() const;
  /// The stream is over: fixes all that is left, the kept tail too. Harmless when repeated.
  Result<int> finish(Now now);

  /// From now on nothing more is kept but the tail (the spool as a whole is full).
  void stop_keeping();

  /// Asked when the disk is full; true when it is worth another try.
  void on_full_disk(std::function<bool()> make_room) { make_room_ = std::move(make_room); }

  /// What an earlier life left of the index behind its last whole line: torn, or damaged.
  std::int64_t damaged_index_bytes() const { return damaged_index_; }

  std::int64_t raw_bytes() const { return raw_; }
  /// Bytes in the log: final after finish().
  std::int64_t log_bytes() const { return log_; }
  std::int64_t lost_bytes() const { return lost_; }
  std::int64_t border_count() const { return borders_; }
  /// How much of the disk it uses, roughly.
  std::int64_t kept_bytes() const;

 private:
  SpoolStream(StreamLimits limits, UniqueFd data, UniqueFd index);
  Result<void> recover();
  Result<void> add_border(std::int64_t from, std::int64_t length, std::int64_t dropped,
                          WallTime now);
  Result<void> append_index(const ChunkBorder& border);
  PipeRead discard(int pipe, std::int64_t budget);
  void punch_middle();

  const StreamLimits limits_;
  UniqueFd data_;
  UniqueFd index_;
  std::int64_t head_limit_;          ///< raw offset up to which everything is kept
  std::int64_t tail_;                ///< so much of the end is kept beyond it
  std::int64_t raw_ = 0;
  std::int64_t bordered_ = 0;        ///< raw offset up to which borders are fixed
  std::int64_t log_ = 0;
  std::int64_t punched_ = 0;
  std::int64_t lost_ = 0;
  std::int64_t borders_ = 0;
  std::int64_t damaged_index_ = 0;
  bool disk_full_ = false;
  std::function<bool()> make_room_;
  std::optional<MonoTime> oldest_open_;  ///< arrival of the first byte without a border
};

/// Reads chunk number `first` and those after it, at most `most_bytes` together (one at least).
struct ReadChunk {
  ChunkBorder border;
  std::string bytes;
  bool is_damaged = false;           ///< the bytes are not what the index says, and left out
};
Result<std::vector<ReadChunk>> read_chunks(const StreamPath& path, std::int64_t first,
                                           std::int64_t most_bytes);

}  // namespace rota::worker::run
