// The records of a log file in a folder: a head of fixed size with a check sum of its own, then the
// packed bytes with another. A file is only ever appended to, by one writer, so that whatever a crash
// leaves half-written is at its end.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "master/store/logs/log_rules.h"

namespace rota::master::store {

inline constexpr std::size_t kLogHeadBytes = 72;

/// One record, without its bytes.
struct LogRecord {
  ChunkPlace place;
  std::uint32_t crc32 = 0;            ///< of the chunk's bytes
  std::int64_t received_ms = 0;
  std::uint32_t codec = 0;
  std::uint32_t packed_length = 0;
  std::uint32_t packed_crc32 = 0;
  std::int64_t at = 0;                ///< of its head in the file

  std::int64_t packed_at() const { return at + static_cast<std::int64_t>(kLogHeadBytes); }
  std::int64_t next() const { return packed_at() + packed_length; }
};

/// A chunk as it stands in the file.
std::string encode_log_record(const LogChunk& chunk, bool compress);

/// What is wrong in a file, by place and number of bytes.
struct LogDamage {
  std::int64_t at = 0;
  std::int64_t bytes = 0;
  bool is_tail = false;               ///< torn, or not wholly written yet
};

struct LogScan {
  std::vector<LogRecord> records;
  std::int64_t end = 0;               ///< behind the last whole record: where to scan on
  std::vector<LogDamage> damage;
};

/// Reads exactly so many bytes at this place of a file, fewer at its end.
using ReadAt = std::function<Result<std::string>(std::int64_t at, std::size_t bytes)>;

enum class LogScanDepth { Whole, Heads };

/// All whole records of that stream between `from` and `size`. What is damaged in between is passed over;
/// the next whole record is looked for byte by byte. By heads alone, a record is whole when the file goes on
/// to its end.
Result<LogScan> scan_log(const ReadAt& read, std::int64_t from, std::int64_t size,
                         model::AttemptKey attempt, LogStream stream,
                         LogScanDepth depth = LogScanDepth::Whole);

}  // namespace rota::master::store
