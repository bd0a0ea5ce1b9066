#include "worker/report/outbox_record.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace rota::worker::report {

namespace {

using model::AttemptReport;

constexpr std::size_t kHead = 8;  // length and check sum
constexpr char kOutcome = 'O';
constexpr char kAcknowledged = 'A';

std::uint32_t crc_of(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size())));
}

class Writer {
 public:
  template <typename Number>
  void number(Number value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes += value;
  }
  void key(const model::AttemptKey& value) {
    number(value.run.value);
    number(value.attempt);
  }
  std::string bytes;
};

/// Reads what Writer wrote; after the first thing that does not fit, `is_good` is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}
  template <typename Number>
  Number number() {
    Number value{};
    if (rest_.size() < sizeof value) {
      is_good = false;
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  std::string text() {
    const auto size = number<std::uint32_t>();
    if (rest_.size() < size) {
      is_good = false;
      return {};
    }
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  model::AttemptKey key() {
    const RunId run{number<std::int64_t>()};
    return {run, number<std::int32_t>()};
  }
  bool is_at_end() const { return rest_.empty(); }
  bool is_good = true;

 private:
  std::string_view rest_;
};

void write_outcome(Writer& out, const model::Outcome& outcome) {
  out.text(model::name_of(outcome.state));
  out.text(model::name_of(outcome.reason));
  out.number(outcome.exit_status);
  out.number(outcome.signal);
  out.text(outcome.message);
  out.text(outcome.result);
  out.number(to_ms(outcome.started));
  out.number(to_ms(outcome.ended));
  out.number(outcome.stdout_bytes);
  out.number(outcome.stderr_bytes);
  std::uint8_t unknown = 0;
  std::uint8_t bit = 1;
  for (const auto& cost :
       {outcome.cpu_us, outcome.peak_memory_bytes, outcome.read_bytes, outcome.written_bytes}) {
    out.number(cost.value_or(0));
    if (!cost) unknown = static_cast<std::uint8_t>(unknown | bit);
    bit = static_cast<std::uint8_t>(bit << 1);
  }
  if (unknown != 0 || outcome.stood_still) out.number(unknown);
  if (!outcome.stood_still) return;
  out.number(to_ms(outcome.stood_still->from));
  out.number(to_ms(outcome.stood_still->to));
}

/// Near the end of a record: which of the costs are not known.
void forget_unknown(Reader& in, model::Outcome& outcome) {
  if (in.is_at_end()) return;
  const auto unknown = in.number<std::uint8_t>();
  if ((unknown & 1) != 0) outcome.cpu_us.reset();
  if ((unknown & 2) != 0) outcome.peak_memory_bytes.reset();
  if ((unknown & 4) != 0) outcome.read_bytes.reset();
  if ((unknown & 8) != 0) outcome.written_bytes.reset();
}

model::Outcome read_outcome(Reader& in) {
  model::Outcome outcome;
  const auto state = model::run_state_named(in.text());
  const auto reason = model::reason_named(in.text());
  if (!state || !reason) in.is_good = false;
  outcome.state = state.value_or(model::RunState::Failed);
  outcome.reason = reason.value_or(model::Reason::None);
  outcome.exit_status = in.number<std::int32_t>();
  outcome.signal = in.number<std::int32_t>();
  outcome.message = in.text();
  outcome.result = in.text();
  outcome.started = wall_from_ms(in.number<std::int64_t>());
  outcome.ended = wall_from_ms(in.number<std::int64_t>());
  outcome.stdout_bytes = in.number<std::int64_t>();
  outcome.stderr_bytes = in.number<std::int64_t>();
  outcome.cpu_us = in.number<std::int64_t>();
  outcome.peak_memory_bytes = in.number<std::int64_t>();
  if (in.is_at_end()) return outcome;  // written by an earlier version
  outcome.read_bytes = in.number<std::int64_t>();
  outcome.written_bytes = in.number<std::int64_t>();
  forget_unknown(in, outcome);
  if (in.is_at_end()) return outcome;
  const WallTime from = wall_from_ms(in.number<std::int64_t>());
  outcome.stood_still = {from, wall_from_ms(in.number<std::int64_t>())};
  return outcome;
}

std::string payload_of(const OutboxRecord& record) {
  Writer out;
  if (const auto* done = std::get_if<Acknowledged>(&record)) {
    out.number(kAcknowledged);
    out.key(done->key);
    return out.bytes;
  }
  const auto& report = std::get<AttemptReport>(record);
  out.number(kOutcome);
  out.key(report.key);
  out.text(report.worker.id);
  out.text(report.worker.incarnation);
  write_outcome(out, report.outcome);
  return out.bytes;
}

std::optional<OutboxRecord> record_in(std::string_view payload) {
  Reader in(payload);
  const char kind = in.number<char>();
  const model::AttemptKey key = in.key();
  if (kind == kAcknowledged) {
    return in.is_good ? std::optional<OutboxRecord>(Acknowledged{key}) : std::nullopt;
  }
  if (kind != kOutcome) return std::nullopt;
  AttemptReport report;
  report.key = key;
  report.what = AttemptReport::What::Finished;
  report.worker.id = in.text();
  report.worker.incarnation = in.text();
  report.outcome = read_outcome(in);
  report.started = report.outcome.started;
  return in.is_good ? std::optional<OutboxRecord>(std::move(report)) : std::nullopt;
}

/// The whole record that begins here, and its length; 0 when there is none.
std::size_t read_record(std::string_view at, std::optional<OutboxRecord>& record) {
  Reader head(at);
  const auto length = head.number<std::uint32_t>();
  const auto crc = head.number<std::uint32_t>();
  if (!head.is_good || length == 0 || length > kMaxRecordBytes || at.size() < kHead + length) {
    return 0;
  }
  const std::string_view payload = at.substr(kHead, length);
  if (crc_of(payload) != crc) return 0;
  record = record_in(payload);
  return kHead + length;
}

/// Where the next record may begin. Its length is below 2^24 and not zero, so one of its first three
/// bytes is not zero.
std::size_t next_start(std::string_view file, std::size_t at) {
  const auto found = std::min(file.find_first_not_of('\0', at), file.size());
  return std::max(at, found < 2 ? 0 : found - 2);
}

}  // namespace

std::string encode(const OutboxRecord& record) {
  const std::string payload = payload_of(record);
  Writer out;
  out.number(static_cast<std::uint32_t>(payload.size()));
  out.number(crc_of(payload));
  out.bytes += payload;
  return out.bytes;
}

OutboxContent read_records(std::string_view file) {
  OutboxContent content;
  std::size_t at = 0;
  while (at < file.size()) {
    std::optional<OutboxRecord> record;
    const std::size_t length = read_record(file.substr(at), record);
    if (length == 0) {
      at = next_start(file, at + 1);  // zeros after the last record, or damage
      continue;
    }
    content.damaged_bytes += at - content.end;
    at += length;
    content.end = at;
    if (record) content.records.push_back(std::move(*record));
  }
  const auto last = file.find_last_not_of('\0');
  if (last != std::string_view::npos && last >= content.end) content.torn_bytes = last + 1 - content.end;
  return content;
}

}  // namespace rota::worker::report
