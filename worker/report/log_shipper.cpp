#include "worker/report/log_shipper.h"

#include <algorithm>
#include <optional>

#include "common/base/log.h"
#include "common/wire/run_wire.h"

namespace rota::worker::report {

namespace {

using run::PendingChunk;

thrift::LogChunk to_wire(const PendingChunk& pending) {
  thrift::LogChunk chunk;
  chunk.__set_attempt(wire::to_wire(pending.key.attempt));
  chunk.__set_stream(pending.key.stream);
  chunk.__set_offset(pending.chunk.border.raw_offset);
  chunk.__set_bytes(pending.chunk.bytes);
  chunk.__set_crc32(pending.chunk.border.crc32);
  chunk.__set_received_ms(pending.chunk.border.received_ms);
  chunk.__set_dropped_before(pending.chunk.border.dropped_before);
  return chunk;
}

/// The master will never accept it: the bytes contradict themselves or what is stored, or there is no such
/// run.
bool is_for_good(const rpc::CallError& error) {
  const ErrorCode code = error.error.code;
  return error.answered && (code == ErrorCode::Corrupt || code == ErrorCode::InvalidArgument ||
                            code == ErrorCode::Conflict || code == ErrorCode::NotFound ||
                            code == ErrorCode::Denied);
}

}  // namespace

LogShipper::~LogShipper() { stop(); }

void LogShipper::start() {
  thread_ = std::jthread([this](std::stop_token stop) { loop(stop); });
}

void LogShipper::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void LogShipper::loop(std::stop_token stop) {
  Millis backoff{0};
  while (!stop.stop_requested()) {
    if (backoff > Millis{0}) channel_.pause(backoff, stop);
    if (!spool_.wait_pending(Millis{1000}, stop)) continue;
    const auto chunks = spool_.pending(options_.batch_bytes);
    if (chunks.empty()) channel_.refresh();
    const bool has_moved = !chunks.empty() && ship(chunks);
    backoff = has_moved ? Millis{0}
                        : std::clamp(backoff * 2, options_.backoff_first, options_.backoff_most);
  }
}

rpc::CallResult<std::vector<std::int64_t>> LogShipper::send(
    const std::vector<PendingChunk>& chunks) {
  std::vector<thrift::LogChunk> request;
  request.reserve(chunks.size());
  for (const PendingChunk& chunk : chunks) request.push_back(to_wire(chunk));
  return channel_.call(
      [&](thrift::ReportServiceClient& master) {
        std::vector<std::int64_t> ends;
        master.append_log(ends, request);
        return ends;
      },
      options_.rpc_deadline);
}

/// False when nothing moved, so that the next try waits.
bool LogShipper::ship(const std::vector<PendingChunk>& chunks) {
  const auto ends = send(chunks);
  if (ends) return apply_answer(chunks, *ends);
  if (is_for_good(ends.error())) return ship_one_by_one(chunks);
  log_debug("report", "log chunks were not accepted; they are sent again",
            {{"chunks", chunks.size()}, {"why", ends.error().error.message}});
  return false;
}

bool LogShipper::apply_answer(const std::vector<PendingChunk>& chunks,
                             const std::vector<std::int64_t>& ends) {
  bool has_moved = false;
  for (std::size_t i = 0; i < chunks.size() && i < ends.size(); ++i) {
    const auto& sent = chunks[i].chunk.border;
    if (ends[i] >= sent.raw_offset + sent.length) acknowledged_bytes_ += sent.length;
    // Of several chunks of one stream only the last answer matters.
    if (i + 1 < chunks.size() && chunks[i + 1].key == chunks[i].key) continue;
    const auto& border = chunks[i].chunk.border;
    has_moved = has_moved || ends[i] >= border.raw_offset + border.length;
    spool_.stored(chunks[i].key, ends[i]);
  }
  return has_moved;
}

/// One chunk of the batch is refused for good: finds it, and gives up its stream alone.
bool LogShipper::ship_one_by_one(const std::vector<PendingChunk>& chunks) {
  bool has_moved = false;
  std::optional<run::StreamKey> given_up;
  for (const PendingChunk& chunk : chunks) {
    if (given_up == chunk.key) continue;
    const auto ends = send({chunk});
    if (ends) {
      has_moved = apply_answer({chunk}, *ends) || has_moved;
      continue;
    }
    if (!is_for_good(ends.error())) return has_moved;
    log_error("report", "a master refuses a log chunk; the rest of its stream is given up",
              {{"run", chunk.key.attempt.run.value},
               {"attempt", chunk.key.attempt.attempt},
               {"stream", chunk.key.stream},
               {"offset", chunk.chunk.border.raw_offset},
               {"why", ends.error().error.message}});
    ++streams_given_up_;
    given_up = chunk.key;
    has_moved = true;
    spool_.abandon(chunk.key);
  }
  return has_moved;
}

}  // namespace rota::worker::report
