#include "master/store/logs/chunk_codec.h"

#include <fmt/format.h>
#include <zstd.h>

#include "master/store/logs/log_rules.h"

namespace rota::master::store {
namespace {

constexpr int kLevel = 1;  // 64 KiB of text in well under a millisecond
constexpr std::size_t kLeastBytes = 256;

/// Worth it when an eighth is saved: a frame must be unpacked at each reading.
bool pays(std::size_t packed, std::size_t plain) { return packed < plain - plain / 8; }

tl::unexpected<Error> damaged(std::string_view why) {
  return fail(ErrorCode::Corrupt, fmt::format("a stored log chunk is damaged: {}", why));
}

Result<std::string> unframed(const std::string& content, std::size_t length) {
  std::string bytes(length, '\0');
  const std::size_t got = ZSTD_decompress(bytes.data(), length, content.data(), content.size());
  if (ZSTD_isError(got) != 0) return damaged(ZSTD_getErrorName(got));
  if (got != length) return damaged(fmt::format("{} bytes instead of {}", got, length));
  return bytes;
}

}  // namespace

PackedBytes pack(const std::string& bytes, bool compress) {
  if (!compress || bytes.size() < kLeastBytes) return {Codec::Plain, bytes};
  std::string frame(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size) != 0 || !pays(size, bytes.size())) return {Codec::Plain, bytes};
  frame.resize(size);
  return {Codec::Zstd, std::move(frame)};
}

Result<std::string> unpack(std::int64_t codec, std::string content, std::int64_t length,
                           std::uint32_t crc32) {
  if (length < 0 || length > kMostChunkBytes) {
    return damaged(fmt::format("a length of {}", length));
  }
  if (codec == static_cast<std::int64_t>(Codec::Zstd)) {
    auto bytes = unframed(content, static_cast<std::size_t>(length));
    if (!bytes) return bytes;
    content = std::move(*bytes);
  } else if (codec != static_cast<std::int64_t>(Codec::Plain)) {
    return damaged(fmt::format("codec {} is not known to this program", codec));
  }
  if (static_cast<std::int64_t>(content.size()) != length) {
    return damaged(fmt::format("{} bytes instead of {}", content.size(), length));
  }
  if (crc_of(content) != crc32) return damaged("its bytes do not match their CRC");
  return content;
}

}  // namespace rota::master::store
