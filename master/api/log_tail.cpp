#include "master/api/log_tail.h"

#include <fmt/format.h>

#include <algorithm>

namespace rota::master::api {
namespace {

constexpr std::int32_t kMostBytes = 1 << 20;
constexpr Millis kLongestWait{10'000};
constexpr Millis kFirstPause{50};
constexpr Millis kLongestPause{200};
constexpr Millis kGiveUpAfterEnd{10'000};

std::int64_t bytes_in(const model::Outcome& outcome, std::int32_t stream) {
  return stream == 1 ? outcome.stdout_bytes : outcome.stderr_bytes;
}

Result<void> check(const thrift::LogRequest& request) {
  if (request.run <= 0) return fail(ErrorCode::InvalidArgument, "run: no run has this id");
  if (request.stream != 1 && request.stream != 2) {
    return fail(ErrorCode::InvalidArgument,
                fmt::format("stream: {} is neither 1 (output) nor 2 (errors)", request.stream));
  }
  if (request.offset < 0 || request.attempt < 0) {
    return fail(ErrorCode::InvalidArgument, "offset and attempt: 0 or more");
  }
  return {};
}

bool has_news(const thrift::LogSlice& slice) {
  return !slice.bytes.empty() || slice.complete || slice.missing_bytes > 0;
}

}  // namespace

Result<thrift::LogSlice> LogTail::read(const thrift::LogRequest& request, MonoTime deadline) {
  if (auto checked = check(request); !checked) return fail(checked.error());
  auto slice = read_once(request);
  if (!slice || has_news(*slice) || request.wait_ms <= 0 || !begin_wait()) return slice;
  const auto wait = std::min(Millis{request.wait_ms}, kLongestWait);
  const MonoTime until = std::min(deadline, BootClock::now() + wait);
  Millis between = kFirstPause;
  while (slice && !has_news(*slice) && pause(between, until)) {
    slice = read_once(request);
    between = std::min(between * 3 / 2, kLongestPause);
  }
  end_wait();
  return slice;
}

Result<LogTail::AttemptEnd> LogTail::end_of(const thrift::LogRequest& request) {
  const auto row = reader_.get_run(RunId{request.run});
  if (!row) return fail(row.error());
  const model::RunProgress& at = row->run.progress;
  if (request.attempt > at.attempt) {
    return fail(ErrorCode::NotFound,
                fmt::format("run {} has had {} attempt{}, and no attempt {}", request.run, at.attempt,
                            at.attempt == 1 ? "" : "s", request.attempt));
  }
  if (request.attempt != 0 && request.attempt < at.attempt) return end_of_earlier(request);
  AttemptEnd out;
  out.attempt = at.attempt;
  out.is_final = model::is_final(at.state);
  if (!out.is_final) return out;
  out.ended = at.ended.value_or(row->run.recorded);
  out.bytes = bytes_in(at.outcome, request.stream);
  return out;
}

Result<LogTail::AttemptEnd> LogTail::end_of_earlier(const thrift::LogRequest& request) {
  const auto rows = reader_.attempts_of(RunId{request.run});
  if (!rows) return fail(rows.error());
  AttemptEnd out;
  out.attempt = request.attempt;
  out.is_final = true;
  for (const model::AttemptRow& row : *rows) {
    if (row.attempt != request.attempt) continue;
    out.ended = row.outcome.ended;
    out.bytes = bytes_in(row.outcome, request.stream);
  }
  return out;
}

// Reads the end before the bytes, so that everything that was written before the end is seen.
Result<thrift::LogSlice> LogTail::read_once(const thrift::LogRequest& request) {
  const auto end = end_of(request);
  if (!end) return fail(end.error());
  thrift::LogSlice out;
  out.__set_attempt(end->attempt);
  out.__set_next_offset(request.offset);
  out.__set_stored_end(0);
  std::int64_t behind_hole = 0;
  if (end->attempt > 0) {
    const auto stream = request.stream == 1 ? store::LogStream::Out : store::LogStream::Err;
    auto slice = logs_.read({RunId{request.run}, end->attempt}, stream, request.offset,
                            std::clamp(request.limit_bytes, 1, kMostBytes));
    if (!slice) return fail(slice.error());
    out.__set_bytes(std::move(slice->bytes));
    for (const store::LogPiece& piece : slice->pieces) {
      thrift::LogPiece told;
      told.__set_offset(piece.offset);
      told.__set_length_bytes(piece.length);
      told.__set_received_ms(to_ms(piece.received));
      out.pieces.push_back(told);
    }
    out.__isset.pieces = true;
    // Wait for a hole to fill: the missing bytes may be on their way through another master.
    behind_hole = slice->gap && slice->bytes.empty() && slice->dropped == 0 ? slice->next_offset : 0;
    if (behind_hole == 0) out.__set_next_offset(slice->next_offset);
    out.__set_stored_end(slice->stored_end);
    out.__set_dropped_bytes(slice->dropped);
  }
  if (!end->is_final) return out;
  const std::int64_t whole = std::max(end->bytes, out.stored_end);
  const bool handed_out = behind_hole == 0 && out.next_offset >= whole;
  const bool nothing_now = !handed_out && out.bytes.empty();
  if (nothing_now) {
    if (auto told = tell_pruned(request, out); !told) return fail(told.error());
  }
  const bool given_up = nothing_now && (out.__isset.pruned_ms ||
                                        clock_.wall() - end->ended >= kGiveUpAfterEnd);
  if (given_up) {
    const std::int64_t next = behind_hole > 0 ? behind_hole : whole;
    out.__set_missing_bytes(next - out.next_offset);
    if (behind_hole > 0) out.__set_next_offset(next);
  }
  out.__set_complete(handed_out || (given_up && behind_hole == 0));
  return out;
}

/// Whether what is missing was deleted on purpose.
Result<void> LogTail::tell_pruned(const thrift::LogRequest& request, thrift::LogSlice& out) {
  const auto pruned = reader_.pruned_among({RunId{request.run}});
  if (!pruned) return fail(pruned.error());
  if (!pruned->empty()) out.__set_pruned_ms(to_ms(pruned->begin()->second));
  return {};
}

bool LogTail::begin_wait() {
  std::scoped_lock lock(mutex_);
  if (stopped_ || waits_ >= most_waits_) return false;
  ++waits_;
  return true;
}

void LogTail::end_wait() {
  std::scoped_lock lock(mutex_);
  --waits_;
}

bool LogTail::pause(Millis pause, MonoTime until) {
  const auto left = until - BootClock::now();
  if (left <= Micros{0}) return false;
  std::unique_lock lock(mutex_);
  stopping_.wait_for(lock, std::min<Micros>(pause, left), [this] { return stopped_; });
  return !stopped_;
}

void LogTail::stop() {
  {
    std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  stopping_.notify_all();
}

}  // namespace rota::master::api
