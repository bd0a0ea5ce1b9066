#include "master/api/log_intake.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/log.h"

namespace rota::master::api {
namespace {

constexpr Millis kSeenFor{60'000};           // a run is deleted long after its end, if at all
constexpr std::size_t kMostSeen = 50'000;
constexpr Millis kAlarmFor{60 * 60'000};

std::string place_of(const store::LogChunk& chunk) {
  return fmt::format("log chunk of run {} attempt {} at {}", chunk.attempt.run.value,
                     chunk.attempt.attempt, chunk.offset);
}

std::int64_t begin_of(const store::LogChunk& chunk) { return chunk.offset - chunk.dropped_before; }

std::int64_t end_of(const store::LogChunk& chunk) {
  return chunk.offset + static_cast<std::int64_t>(chunk.bytes.size());
}

}  // namespace

Result<void> check_reach(const store::LogChunk& chunk, std::int64_t stored_end) {
  const std::int64_t missing = begin_of(chunk) - stored_end;
  if (missing <= kMostBytesMissing) return {};
  return fail(ErrorCode::InvalidArgument,
              fmt::format("{}: {} bytes would be missing before it, since {} are stored; at most {} may be",
                          place_of(chunk), missing, stored_end, kMostBytesMissing));
}

Result<std::vector<std::int64_t>> LogIntake::append(const Caller& caller,
                                                    const std::vector<store::LogChunk>& chunks) {
  const auto without_row = runs_without_row(chunks);
  if (!without_row) return fail(without_row.error());
  if (without_row->empty()) return append_known(caller, chunks);
  const auto deleted = deleted_among(*without_row, chunks);
  if (!deleted) return fail(deleted.error());
  std::vector<store::LogChunk> wanted;
  for (const store::LogChunk& chunk : chunks) {
    if (!deleted->contains(chunk.attempt.run)) wanted.push_back(chunk);
  }
  const auto stored = append_known(caller, wanted);
  if (!stored) return stored;
  std::vector<std::int64_t> ends;
  auto next = stored->begin();
  for (const store::LogChunk& chunk : chunks) {
    ends.push_back(deleted->contains(chunk.attempt.run) ? end_of(chunk) : *next++);
  }
  return ends;
}

/// A run's row is committed before the run is dispatched, so output cannot come before the row.
/// When the database does not answer, nothing is known, and no output is refused for that.
Result<LogIntake::Runs> LogIntake::runs_without_row(const std::vector<store::LogChunk>& chunks) {
  Runs asked = not_seen_lately(chunks);
  if (asked.empty()) return asked;
  const auto stored = reader_.runs_among({asked.begin(), asked.end()});
  if (!stored) return Runs{};
  const std::scoped_lock lock(mutex_);
  if (seen_.size() + stored->size() > kMostSeen) seen_.clear();
  for (const RunId run : *stored) {
    seen_[run] = clock_.mono();
    asked.erase(run);
  }
  return asked;
}

LogIntake::Runs LogIntake::not_seen_lately(const std::vector<store::LogChunk>& chunks) {
  const std::scoped_lock lock(mutex_);
  Runs out;
  for (const store::LogChunk& chunk : chunks) {
    const auto seen = seen_.find(chunk.attempt.run);
    if (seen == seen_.end() || clock_.mono() - seen->second > kSeenFor) out.insert(chunk.attempt.run);
  }
  return out;
}

/// Those that retention may have deleted; InvalidArgument when one of them never existed.
Result<LogIntake::Runs> LogIntake::deleted_among(const Runs& without_row,
                                                 const std::vector<store::LogChunk>& chunks) {
  const auto gone_through = reader_.runs_gone_through();
  if (!gone_through) return fail(gone_through.error());
  for (const store::LogChunk& chunk : chunks) {
    if (!without_row.contains(chunk.attempt.run)) continue;
    const std::scoped_lock lock(mutex_);
    if (chunk.attempt.run <= *gone_through) {
      ++refusals_.no_longer_kept;
      continue;
    }
    ++refusals_.unknown_run;
    return fail(ErrorCode::InvalidArgument, place_of(chunk) + ": there is no such run");
  }
  return without_row;
}

Result<void> LogIntake::check_reaches(const std::vector<store::LogChunk>& chunks) {
  for (const store::LogChunk& chunk : chunks) {
    if (begin_of(chunk) <= kMostBytesMissing) continue;
    const auto stored = logs_.stored_of({chunk.attempt.run});
    if (!stored) return fail(stored.error());
    const auto stream = std::ranges::find_if(*stored, [&](const store::StoredStream& one) {
      return one.attempt == chunk.attempt && one.stream == chunk.stream;
    });
    if (auto near = check_reach(chunk, stream == stored->end() ? 0 : stream->end); !near) return near;
  }
  return {};
}

Result<std::vector<std::int64_t>> LogIntake::append_known(const Caller& caller,
                                                          const std::vector<store::LogChunk>& chunks) {
  auto reaches = check_reaches(chunks);
  auto ends = reaches ? logs_.append(chunks) : Result<std::vector<std::int64_t>>(fail(reaches.error()));
  if (ends) {
    pass_what_is_pruned(chunks, *ends);
    return ends;
  }
  const std::scoped_lock lock(mutex_);
  const ErrorCode code = ends.error().code;
  if (code == ErrorCode::InvalidArgument) ++refusals_.impossible_place;
  if (code == ErrorCode::Corrupt) ++refusals_.damaged;
  if (code != ErrorCode::Conflict) return ends;
  note_other_content(caller, ends.error());
  // Every version of a worker treats this as final.
  return fail(ErrorCode::Corrupt, ends.error().message);
}

void LogIntake::note_other_content(const Caller& caller, const Error& error) {
  ++refusals_.other_content;
  refusals_.alarm = error.message;
  const bool is_first = alarmed_ == MonoTime{} || clock_.mono() - alarmed_ > Millis{1000};
  alarmed_ = clock_.mono();
  if (!is_first) return;  // the counter shows the others
  log_error("api", "output was sent with other content than is stored; what is stored stays",
            {{"why", error.message},
             {"so_far", refusals_.other_content},
             {"from", caller.address}});
}

/// A worker may come back with the rest of an output whose beginning was deleted meanwhile. It
/// would send that rest forever, so it is acknowledged; retention deletes what was stored of it.
void LogIntake::pass_what_is_pruned(const std::vector<store::LogChunk>& chunks,
                                    std::vector<std::int64_t>& ends) {
  std::vector<RunId> behind_holes;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (ends[i] < begin_of(chunks[i])) behind_holes.push_back(chunks[i].attempt.run);
  }
  if (behind_holes.empty()) return;
  const auto pruned = reader_.pruned_among(behind_holes);
  if (!pruned) return;  // the worker sends it again, and this is asked again
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (pruned->contains(chunks[i].attempt.run)) ends[i] = std::max(ends[i], end_of(chunks[i]));
  }
}

LogRefusals LogIntake::refusals() const {
  const std::scoped_lock lock(mutex_);
  LogRefusals out = refusals_;
  if (!out.alarm.empty() && clock_.mono() - alarmed_ > kAlarmFor) out.alarm.clear();
  return out;
}

}  // namespace rota::master::api
