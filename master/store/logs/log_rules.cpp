#include "master/store/logs/log_rules.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

namespace rota::master::store {

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

Result<void> check_chunk(const LogChunk& chunk) {
  const auto length = static_cast<std::int64_t>(chunk.bytes.size());
  if (chunk.offset < 0 || chunk.dropped_before < 0 || chunk.dropped_before > chunk.offset ||
      length > kMostChunkBytes || chunk.offset > kMostStreamBytes - length) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("log chunk of run {} attempt {} at {}: {} bytes, {} dropped before it",
                            chunk.attempt.run.value, chunk.attempt.attempt, chunk.offset, length,
                            chunk.dropped_before));
  }
  if (crc_of(chunk.bytes) == chunk.crc32) return {};
  return fail(ErrorCode::Corrupt,
              fmt::format("log chunk of run {} attempt {} at {}: its bytes do not match its CRC",
                          chunk.attempt.run.value, chunk.attempt.attempt, chunk.offset));
}

void StreamFinder::pass(model::AttemptKey attempt, LogStream stream, const ChunkPlace& chunk) {
  if (found_.empty() || found_.back().attempt != attempt || found_.back().stream != stream) {
    found_.push_back({attempt, stream, 0, 0});
  }
  StoredStream& at = found_.back();
  EndFinder finder(at.end);
  finder.pass(chunk);
  at.end = finder.end();
  at.last = std::max(at.last, chunk.end());
}

SliceBuilder::SliceBuilder(std::int64_t offset, std::int64_t limit)
    : limit_(std::clamp<std::int64_t>(limit, 0, kMostReadBytes)) {
  slice_.next_offset = std::max<std::int64_t>(offset, 0);
}

bool SliceBuilder::pass(const ChunkPlace& place, const std::string& bytes, WallTime received) {
  if (place.end() <= slice_.next_offset) return true;
  if (place.begin() > slice_.next_offset) {
    slice_.gap = true;
    // Nothing before the hole: tell where the next byte is.
    if (slice_.bytes.empty() && slice_.dropped == 0) slice_.next_offset = place.begin();
    return false;
  }
  if (place.offset > slice_.next_offset) {
    slice_.dropped += place.offset - slice_.next_offset;
    slice_.next_offset = place.offset;
  }
  const auto room = limit_ - static_cast<std::int64_t>(slice_.bytes.size());
  const auto skipped = slice_.next_offset - place.offset;
  const auto taken = std::min(room, place.length - skipped);
  slice_.bytes.append(bytes, static_cast<std::size_t>(skipped), static_cast<std::size_t>(taken));
  if (taken > 0) slice_.pieces.push_back({slice_.next_offset, taken, received});
  slice_.next_offset += taken;
  return static_cast<std::int64_t>(slice_.bytes.size()) < limit_;
}

LogSlice SliceBuilder::finish(std::int64_t stored_end) {
  slice_.stored_end = stored_end;
  return std::move(slice_);
}

}  // namespace rota::master::store
