#include "master/verify/log_check.h"

#include <algorithm>

#include "master/verify/findings.h"

namespace rota::master::verify {
namespace {

constexpr std::size_t kRunsPerQuestion = 200;
constexpr std::size_t kMostContents = 2000;             // streams whose content is read
constexpr std::int64_t kMostContentBytes = 64 << 20;
constexpr std::int64_t kReadBytes = 1 << 20;

std::string place_of(const model::AttemptKey& attempt, store::LogStream stream) {
  return fmt::format("run {} attempt {} {}", attempt.run.value, attempt.attempt,
                     stream == store::LogStream::Out ? "stdout" : "stderr");
}

}  // namespace

Result<void> LogCheck::look_at(const std::vector<LogCandidate>& candidates) {
  if (sources_.logs == nullptr || candidates.empty()) return {};
  const auto stored = stored_of(candidates);
  if (!stored) return fail(stored.error());
  Missing missing;
  for (const LogCandidate& candidate : candidates) {
    for (const auto stream : {store::LogStream::Out, store::LogStream::Err}) {
      const auto found = stored->find({candidate.attempt, stream});
      look_at_stream(candidate,
                     found == stored->end() ? store::StoredStream{candidate.attempt, stream, 0, 0}
                                            : found->second,
                     missing);
    }
  }
  return judge_missing(missing);
}

Result<std::map<LogCheck::StreamKey, store::StoredStream>> LogCheck::stored_of(
    const std::vector<LogCandidate>& candidates) {
  std::map<StreamKey, store::StoredStream> out;
  std::vector<RunId> runs;
  for (const LogCandidate& candidate : candidates) {
    if (runs.empty() || runs.back() != candidate.attempt.run) runs.push_back(candidate.attempt.run);
  }
  for (std::size_t at = 0; at < runs.size(); at += kRunsPerQuestion) {
    const auto from = runs.begin() + static_cast<std::ptrdiff_t>(at);
    const auto to = runs.begin() + static_cast<std::ptrdiff_t>(std::min(runs.size(), at + kRunsPerQuestion));
    const auto page = sources_.logs->stored_of({from, to});
    if (!page) return fail(page.error());
    for (const store::StoredStream& one : *page) out[{one.attempt, one.stream}] = one;
  }
  return out;
}

void LogCheck::look_at_stream(const LogCandidate& candidate, const store::StoredStream& stored,
                              Missing& missing) {
  const bool is_out = stored.stream == store::LogStream::Out;
  const std::int64_t named = is_out ? candidate.stdout_bytes : candidate.stderr_bytes;
  ++logs_.planned;
  const std::string place = place_of(stored.attempt, stored.stream);
  if (stored.end < named) {
    missing.emplace_back(stored.attempt.run,
                         fmt::format("{}: {} of {} bytes are stored{}", place, stored.end, named,
                                     stored.last > stored.end ? ", others behind a hole" : ""));
  } else if (stored.last > named && candidate.lengths_known) {
    wrong(logs_, fmt::format("{}: {} bytes are stored, its outcome names {}", place, stored.last, named));
  } else if (stored.end > 0) {
    keep({stored.attempt, stored.stream}, stored.end);
  }
}

/// What is not stored was either deleted by retention, which is written down or has taken the run too, or
/// it is missing.
Result<void> LogCheck::judge_missing(const Missing& missing) {
  if (missing.empty()) return {};
  std::vector<RunId> runs;
  for (const auto& [run, what] : missing) runs.push_back(run);
  const auto pruned = sources_.reader.pruned_among(runs);
  if (!pruned) return fail(pruned.error());
  for (const auto& [run, what] : missing) {
    const auto is_gone = pruned->contains(run) ? Result<bool>(true) : has_gone(run);
    if (!is_gone) return fail(is_gone.error());
    if (*is_gone) {
      ++logs_.skipped;
    } else {
      miss(logs_, what);
    }
  }
  return {};
}

Result<bool> LogCheck::has_gone(RunId run) {
  const auto found = sources_.reader.get_run(run);
  if (!found && found.error().code != ErrorCode::NotFound) return fail(found.error());
  return !found;
}

void LogCheck::keep(const StreamKey& key, std::int64_t bytes) {
  newest_.push_back({key, bytes});
  newest_bytes_ += bytes;
  while (newest_.size() > kMostContents || newest_bytes_ - newest_.front().bytes > kMostContentBytes) {
    newest_bytes_ -= newest_.front().bytes;
    newest_.pop_front();
  }
}

Result<void> LogCheck::look_at_content(MonoTime deadline) {
  if (sources_.logs == nullptr) return {};
  std::int64_t left = kMostContentBytes;
  for (auto at = newest_.rbegin(); at != newest_.rend() && left > 0; ++at) {
    if (BootClock::now() > deadline) return {};
    const auto read = look_at_bytes({at->key, std::min(at->bytes, left)});
    if (!read) return fail(read.error());
    left -= *read;
  }
  return {};
}

/// A chunk whose bytes do not match their check sum is read as a hole.
Result<std::int64_t> LogCheck::look_at_bytes(const Whole& whole) {
  const auto& [attempt, stream] = whole.key;
  std::int64_t bytes = 0;
  for (std::int64_t offset = 0; offset < whole.bytes;) {
    const auto slice = sources_.logs->read(attempt, stream, offset, kReadBytes);
    if (!slice) return fail(slice.error());
    bytes += static_cast<std::int64_t>(slice->bytes.size());
    const bool is_stuck = slice->next_offset <= offset || (slice->bytes.empty() && slice->dropped == 0);
    if (!is_stuck) {
      offset = slice->next_offset;
      continue;
    }
    const auto pruned = sources_.reader.pruned_among({attempt.run});
    if (!pruned) return fail(pruned.error());
    const auto is_gone = pruned->empty() ? has_gone(attempt.run) : Result<bool>(true);
    if (!is_gone) return fail(is_gone.error());
    if (!*is_gone) {
      wrong(logs_, fmt::format("{}: what is stored at {} is damaged", place_of(attempt, stream), offset));
    }
    break;
  }
  return bytes;
}

}  // namespace rota::master::verify
