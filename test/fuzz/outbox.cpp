// The worker's outbox file: the input bytes as the file, and the same bytes as a record with a correct checksum.
// Records that are written again read the same.
#include <zlib.h>

#include <cstring>

#include "test/fuzz/judge.h"
#include "worker/report/outbox_record.h"

using namespace rota::worker::report;
using rota::fuzz::demand;

namespace {

std::string record_of(std::string_view payload) {
  const auto length = static_cast<std::uint32_t>(payload.size());
  const auto crc = static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(payload.data()), static_cast<uInt>(payload.size())));
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, sizeof length);
  std::memcpy(out.data() + 4, &crc, sizeof crc);
  return out + std::string(payload);
}

void read_twice(std::string_view file) {
  const OutboxContent content = read_records(file);
  demand(content.end <= file.size(), "the end lies within");
  demand(content.end + content.torn_bytes <= file.size(), "so does the torn tail");
  std::string written;
  for (const auto& record : content.records) written += encode(record);
  const OutboxContent again = read_records(written);
  demand(again.records.size() == content.records.size(), "as many records");
  demand(again.damaged_bytes == 0 && again.torn_bytes == 0, "and nothing else");
  std::string twice;
  for (const auto& record : again.records) twice += encode(record);
  demand(twice == written, "the same bytes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_twice(bytes);
  const std::string record = record_of(bytes);
  read_twice(record);
  read_twice(record + std::string(bytes) + record);
  return 0;
}
