// How the bytes of a log chunk are kept: as they are, or as one zstd frame where that is clearly
// smaller. Each chunk stands alone. Reading never trusts a size that a frame names: the room is that
// of the row or record, at most one chunk. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/result.h"

namespace rota::master::store {

enum class Codec : std::uint8_t { Plain = 0, Zstd = 1 };

struct PackedBytes {
  Codec codec = Codec::Plain;
  std::string content;
};

/// Packs the bytes of a chunk. Short or random ones stay as they are.
PackedBytes pack(const std::string& bytes, bool compress);

/// The bytes again. Corrupt when codec, content, length and CRC (zlib's, of the bytes) do not agree.
Result<std::string> unpack(std::int64_t codec, std::string content, std::int64_t length,
                           std::uint32_t crc32);

}  // namespace rota::master::store
