#include "master/store/logs/log_record.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "master/store/logs/chunk_codec.h"

namespace rota::master::store {
namespace {

constexpr std::uint32_t kLogMagic = 0x474f4c52;  // "RLOG"
constexpr std::size_t kSearchBlock = 64 * 1024;
constexpr std::uint32_t kMostPackedBytes = 2 * kMostChunkBytes;

template <typename Number>
void put_number(std::string& out, Number value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename Number>
Number get_number(std::string_view& in) {
  Number value;
  std::memcpy(&value, in.data(), sizeof value);
  in.remove_prefix(sizeof value);
  return value;
}

/// Of which stream a record is, and its head. Empty: no head, or not a whole one.
struct LogHead {
  model::AttemptKey attempt;
  std::uint32_t stream = 0;
  LogRecord record;
};

std::optional<LogHead> decode_head(std::string_view bytes) {
  if (bytes.size() < kLogHeadBytes) return std::nullopt;
  bytes = bytes.substr(0, kLogHeadBytes);
  const std::string_view summed = bytes.substr(8);
  if (get_number<std::uint32_t>(bytes) != kLogMagic) return std::nullopt;
  if (get_number<std::uint32_t>(bytes) != crc_of(summed)) return std::nullopt;
  LogHead head;
  head.attempt.run = RunId{get_number<std::int64_t>(bytes)};
  head.attempt.attempt = get_number<std::int32_t>(bytes);
  head.stream = get_number<std::uint32_t>(bytes);
  LogRecord& record = head.record;
  record.place.offset = get_number<std::int64_t>(bytes);
  record.place.length = get_number<std::int64_t>(bytes);
  record.place.dropped_before = get_number<std::int64_t>(bytes);
  record.received_ms = get_number<std::int64_t>(bytes);
  record.crc32 = get_number<std::uint32_t>(bytes);
  record.codec = get_number<std::uint32_t>(bytes);
  record.packed_length = get_number<std::uint32_t>(bytes);
  record.packed_crc32 = get_number<std::uint32_t>(bytes);
  if (record.packed_length > kMostPackedBytes) return std::nullopt;
  return head;
}

/// Goes through one file. Errors are those of reading.
class LogScanner {
 public:
  LogScanner(const ReadAt& read, std::int64_t from, std::int64_t size, model::AttemptKey attempt,
             LogStream stream, LogScanDepth depth)
      : read_(read), size_(size), attempt_(attempt), stream_(stream), depth_(depth) {
    scan_.end = from;
  }

  Result<LogScan> run() {
    std::int64_t at = scan_.end;
    while (at < size_) {
      auto record = whole_at(at);
      if (!record) return fail(record.error());
      if (!*record) {
        auto next = search(at + 1);
        if (!next) return fail(next.error());
        if (!*next) break;
        scan_.damage.push_back({at, (*next)->at - at, false});
        record = *next;
      }
      at = (*record)->next();
      scan_.end = at;
      scan_.records.push_back(**record);
    }
    if (at < size_) scan_.damage.push_back({at, size_ - at, true});
    return std::move(scan_);
  }

 private:
  /// The whole record that begins here, if one does.
  Result<std::optional<LogRecord>> whole_at(std::int64_t at) {
    auto bytes = read_(at, kLogHeadBytes);
    if (!bytes) return fail(bytes.error());
    auto head = decode_head(*bytes);
    if (!head || head->attempt != attempt_ || head->stream != static_cast<std::uint32_t>(stream_)) {
      return std::optional<LogRecord>();
    }
    LogRecord record = head->record;
    record.at = at;
    if (record.next() > size_) return std::optional<LogRecord>();
    if (depth_ == LogScanDepth::Heads) return std::optional(record);
    auto packed = read_(record.packed_at(), record.packed_length);
    if (!packed) return fail(packed.error());
    if (packed->size() != record.packed_length || crc_of(*packed) != record.packed_crc32) {
      return std::optional<LogRecord>();
    }
    return std::optional(record);
  }

  Result<std::optional<LogRecord>> search(std::int64_t from) {
    std::string magic;
    put_number(magic, kLogMagic);
    for (std::int64_t at = from; at < size_;) {
      auto block = read_(at, kSearchBlock);
      if (!block) return fail(block.error());
      for (auto found = block->find(magic); found != std::string::npos;
           found = block->find(magic, found + 1)) {
        auto record = whole_at(at + static_cast<std::int64_t>(found));
        if (!record || *record) return record;
      }
      if (block->size() < kSearchBlock) break;
      at += static_cast<std::int64_t>(kSearchBlock - magic.size() + 1);  // one across the border
    }
    return std::optional<LogRecord>();
  }

  const ReadAt& read_;
  const std::int64_t size_;
  const model::AttemptKey attempt_;
  const LogStream stream_;
  const LogScanDepth depth_;
  LogScan scan_;
};

}  // namespace

std::string encode_log_record(const LogChunk& chunk, bool compress) {
  const PackedBytes packed = pack(chunk.bytes, compress);
  std::string summed;
  put_number(summed, chunk.attempt.run.value);
  put_number(summed, chunk.attempt.attempt);
  put_number(summed, static_cast<std::uint32_t>(chunk.stream));
  put_number(summed, chunk.offset);
  put_number(summed, static_cast<std::int64_t>(chunk.bytes.size()));
  put_number(summed, chunk.dropped_before);
  put_number(summed, to_ms(chunk.received));
  put_number(summed, chunk.crc32);
  put_number(summed, static_cast<std::uint32_t>(packed.codec));
  put_number(summed, static_cast<std::uint32_t>(packed.content.size()));
  put_number(summed, crc_of(packed.content));
  summed.resize(kLogHeadBytes - 8, '\0');
  std::string out;
  put_number(out, kLogMagic);
  put_number(out, crc_of(summed));
  return out + summed + packed.content;
}

Result<LogScan> scan_log(const ReadAt& read, std::int64_t from, std::int64_t size,
                         model::AttemptKey attempt, LogStream stream, LogScanDepth depth) {
  return LogScanner(read, from, size, attempt, stream, depth).run();
}

}  // namespace rota::master::store
