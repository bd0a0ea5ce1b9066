// What the chunks of a stream amount to: where it ends, what a reader gets. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "master/store/log_store.h"

namespace rota::master::store {

inline constexpr std::int64_t kMostChunkBytes = 64 * 1024;
inline constexpr std::int64_t kMostReadBytes = 4 << 20;

/// Where a chunk lies, without its bytes.
struct ChunkPlace {
  std::int64_t offset = 0;
  std::int64_t length = 0;
  std::int64_t dropped_before = 0;
  std::int64_t end() const { return offset + length; }
  /// Of all that it accounts for, the cut bytes before it included.
  std::int64_t begin() const { return offset - dropped_before; }
};

/// InvalidArgument for a size or offset that can not be, Corrupt when bytes and CRC disagree.
Result<void> check_chunk(const LogChunk& chunk);

/// zlib's CRC-32.
std::uint32_t crc_of(std::string_view bytes);

/// Goes on from a known end through chunks in order of their offsets, up to the first hole.
class EndFinder {
 public:
  explicit EndFinder(std::int64_t known_end = 0) : end_(known_end) {}
  void pass(const ChunkPlace& chunk) {
    if (chunk.begin() <= end_ && chunk.end() > end_) end_ = chunk.end();
  }
  std::int64_t end() const { return end_; }

 private:
  std::int64_t end_;
};

/// The streams of chunks that come in the order of their attempts, streams and offsets.
class StreamFinder {
 public:
  void pass(model::AttemptKey attempt, LogStream stream, const ChunkPlace& chunk);
  std::vector<StoredStream> take() { return std::move(found_); }

 private:
  std::vector<StoredStream> found_;
};

/// Builds a slice from chunks in order of their offsets, the first of which may begin before `offset`.
class SliceBuilder {
 public:
  SliceBuilder(std::int64_t offset, std::int64_t limit);
  /// False when the slice is full or ended by a hole: no more chunks are wanted.
  bool pass(const ChunkPlace& place, const std::string& bytes, WallTime received);
  LogSlice finish(std::int64_t stored_end);

 private:
  const std::int64_t limit_;
  LogSlice slice_;
};

}  // namespace rota::master::store
