#include "worker/run/chunk_index.h"

#include <fcntl.h>
#include <linux/falloc.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace rota::worker::run {

namespace {

constexpr std::uint32_t kMagic = 0x4b484352;  // "RCHK"

template <typename Number>
void put(std::string& out, Number value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename Number>
Number get(std::string_view& in) {
  Number value;
  std::memcpy(&value, in.data(), sizeof value);
  in.remove_prefix(sizeof value);
  return value;
}

}  // namespace

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

ChunkBorder head_end(std::int64_t raw_offset, std::int64_t tail) {
  return {raw_offset, tail, -1, 0, 0, 0};
}
bool is_head_end(const ChunkBorder& border) { return border.dropped_before < 0; }

std::string encode_border(const ChunkBorder& border) {
  std::string out;
  put(out, border.raw_offset);
  put(out, border.log_offset);
  put(out, border.dropped_before);
  put(out, border.received_ms);
  put(out, border.length);
  put(out, border.crc32);
  put(out, kMagic);
  put(out, crc_of(out));
  return out;
}

std::optional<ChunkBorder> decode_border(std::string_view bytes) {
  if (bytes.size() != kBorderBytes) return std::nullopt;
  const std::uint32_t expected = crc_of(bytes.substr(0, kBorderBytes - 4));
  ChunkBorder border;
  border.raw_offset = get<std::int64_t>(bytes);
  border.log_offset = get<std::int64_t>(bytes);
  border.dropped_before = get<std::int64_t>(bytes);
  border.received_ms = get<std::int64_t>(bytes);
  border.length = get<std::uint32_t>(bytes);
  border.crc32 = get<std::uint32_t>(bytes);
  const auto magic = get<std::uint32_t>(bytes);
  if (magic != kMagic || get<std::uint32_t>(bytes) != expected) return std::nullopt;
  return border;
}

Result<std::string> read_exactly(int file, std::int64_t offset, std::size_t length) {
  std::string bytes(length, '\0');
  std::size_t have = 0;
  while (have < length) {
    const ssize_t got = ::pread(file, bytes.data() + have, length - have,
                                static_cast<off_t>(offset) + static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return fail(ErrorCode::Unavailable, std::string("read a spool file: ") + std::strerror(errno));
    }
    if (got == 0) return fail(ErrorCode::Corrupt, "a spool file is shorter than its index says");
    have += static_cast<std::size_t>(got);
  }
  return bytes;
}

Result<std::vector<ChunkBorder>> read_index(int index, std::int64_t first, std::size_t most) {
  std::vector<ChunkBorder> borders;
  std::string block(kBorderBytes * std::min<std::size_t>(most, 1024), '\0');
  auto at = static_cast<off_t>(first * static_cast<std::int64_t>(kBorderBytes));
  while (borders.size() < most) {
    const ssize_t got = ::pread(index, block.data(), block.size(), at);
    if (got < 0) {
      return fail(ErrorCode::Unavailable, std::string("read a spool index: ") + std::strerror(errno));
    }
    const std::size_t lines = static_cast<std::size_t>(got) / kBorderBytes;
    for (std::size_t i = 0; i < lines && borders.size() < most; ++i) {
      const auto border =
          decode_border(std::string_view(block).substr(i * kBorderBytes, kBorderBytes));
      if (!border) return borders;
      borders.push_back(*border);
    }
    if (lines == 0) break;
    at += static_cast<off_t>(lines * kBorderBytes);
  }
  return borders;
}

Result<std::int64_t> cut_to_last_chunk(const StreamPath& path, std::int64_t first) {
  constexpr std::int64_t kPage = 4096;
  const UniqueFd index(::open(path.index.c_str(), O_RDWR | O_CLOEXEC));
  const UniqueFd data(::open(path.data.c_str(), O_RDWR | O_CLOEXEC));
  if (!index.is_open() || !data.is_open()) {
    return fail(ErrorCode::Unavailable, "open " + path.data + ": " + std::strerror(errno));
  }
  auto lines = read_index(index.get(), first);
  if (!lines) return fail(lines.error());
  std::erase_if(*lines, is_head_end);
  if (lines->size() < 2) return 0;
  const std::int64_t begin = lines->front().raw_offset - lines->front().dropped_before;
  ChunkBorder last = lines->back();
  last.log_offset = lines->front().log_offset;
  last.dropped_before = last.raw_offset - begin;
  const std::string line = encode_border(last);
  const auto at = static_cast<off_t>(first * static_cast<std::int64_t>(kBorderBytes));
  // In place, then synced, before a byte goes: the index never names what is not there.
  if (::pwrite(index.get(), line.data(), line.size(), at) != static_cast<ssize_t>(line.size()) ||
      ::ftruncate(index.get(), at + static_cast<off_t>(line.size())) != 0 ||
      ::fdatasync(index.get()) != 0) {
    return fail(ErrorCode::Unavailable, "write " + path.index + ": " + std::strerror(errno));
  }
  const std::int64_t from = (begin + kPage - 1) / kPage * kPage;
  const std::int64_t to = last.raw_offset / kPage * kPage;
  if (to > from) ::fallocate(data.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, to - from);
  return last.dropped_before;
}

Result<std::vector<ReadChunk>> read_chunks(const StreamPath& path, std::int64_t first,
                                           std::int64_t most_bytes) {
  UniqueFd index(::open(path.index.c_str(), O_RDONLY | O_CLOEXEC));
  UniqueFd data(::open(path.data.c_str(), O_RDONLY | O_CLOEXEC));
  if (!index.is_open() || !data.is_open()) {
    return fail(ErrorCode::Unavailable, "open " + path.data + ": " + std::strerror(errno));
  }
  auto borders = read_index(index.get(), first, 256);
  if (!borders) return fail(borders.error());
  std::vector<ReadChunk> chunks;
  std::int64_t total = 0;
  for (const ChunkBorder& border : *borders) {
    if (total > 0 && total + border.length > most_bytes) break;
    auto bytes = read_exactly(data.get(), border.raw_offset, border.length);
    if (!bytes && bytes.error().code != ErrorCode::Corrupt) return fail(bytes.error());
    total += border.length;
    const bool is_whole = bytes && (border.length == 0 || crc_of(*bytes) == border.crc32);
    chunks.push_back({border, is_whole ? std::move(*bytes) : std::string(), !is_whole});
  }
  return chunks;
}

}  // namespace rota::worker::run
