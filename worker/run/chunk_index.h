// The index of a spool file: lines of fixed length with a check sum each, and the reading of bytes that
// they name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "worker/run/spool_stream.h"

namespace rota::worker::run {

/// CRC-32 as zlib counts it.
std::uint32_t crc_of(std::string_view bytes);

/// A line that is no chunk: up to this raw offset everything is kept, and beyond it only the last `tail`
/// bytes. The first line of every index, and again when the spool as a whole is full.
ChunkBorder head_end(std::int64_t raw_offset, std::int64_t tail);
bool is_head_end(const ChunkBorder& border);

/// All whole and valid lines from number `first` on, at most `most`. Stops at the first torn one.
Result<std::vector<ChunkBorder>> read_index(int index, std::int64_t first,
                                            std::size_t most = SIZE_MAX);

/// Gives up all chunks from line `first` on but the last, whose line then says how much is dropped before it,
/// and frees their place on the disk. How many bytes were dropped: 0 when there was nothing between. For
/// streams that are finished; none of these chunks may have been sent.
Result<std::int64_t> cut_to_last_chunk(const StreamPath& path, std::int64_t first);

/// Exactly so many bytes, or Corrupt when the file is shorter.
Result<std::string> read_exactly(int file, std::int64_t offset, std::size_t length);

}  // namespace rota::worker::run
