// The half of MemoryStore that keeps output, and deletes it again.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "master/store/logs/log_rules.h"
#include "master/store/memory/memory_store.h"
#include "master/store/memory/memory_tables.h"

namespace rota::master::store {

namespace {

ChunkPlace place_of(const LogChunk& chunk) {
  return {chunk.offset, static_cast<std::int64_t>(chunk.bytes.size()), chunk.dropped_before};
}

std::int64_t end_of(const auto& chunks, model::AttemptKey attempt, LogStream stream) {
  EndFinder finder;
  for (auto at = chunks.lower_bound({attempt, stream, 0}); at != chunks.end(); ++at) {
    if (at->second.attempt != attempt || at->second.stream != stream) break;
    finder.pass(place_of(at->second));
  }
  return finder.end();
}

}  // namespace

Result<std::vector<std::int64_t>> MemoryStore::append(const std::vector<LogChunk>& chunks) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  for (const LogChunk& chunk : chunks) {
    if (auto fine = check_chunk(chunk); !fine) return fail(fine.error());
  }
  auto all = tables_->chunks;  // a call that is refused stores nothing
  for (const LogChunk& chunk : chunks) {
    const auto [at, fresh] = all.emplace(std::tuple{chunk.attempt, chunk.stream, chunk.offset}, chunk);
    if (fresh) continue;
    if (at->second.crc32 == chunk.crc32 && at->second.bytes.size() == chunk.bytes.size()) continue;
    return fail(ErrorCode::Conflict,
                fmt::format("log chunk of run {} attempt {} at {}: other bytes are stored there",
                            chunk.attempt.run.value, chunk.attempt.attempt, chunk.offset));
  }
  tables_->chunks = std::move(all);
  std::vector<std::int64_t> ends;
  for (const LogChunk& chunk : chunks) {
    ends.push_back(end_of(tables_->chunks, chunk.attempt, chunk.stream));
  }
  return ends;
}

Result<LogSlice> MemoryStore::read(model::AttemptKey attempt, LogStream stream, std::int64_t offset,
                                   std::int64_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  SliceBuilder builder(offset, limit);
  for (auto at = tables_->chunks.lower_bound({attempt, stream, 0}); at != tables_->chunks.end(); ++at) {
    const LogChunk& chunk = at->second;
    if (chunk.attempt != attempt || chunk.stream != stream) break;
    if (!builder.pass(place_of(chunk), chunk.bytes, chunk.received)) break;
  }
  return builder.finish(end_of(tables_->chunks, attempt, stream));
}

Result<std::vector<StoredStream>> MemoryStore::stored_of(const std::vector<RunId>& runs) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  StreamFinder finder;
  for (const RunId run : std::set<RunId>(runs.begin(), runs.end())) {
    auto at = tables_->chunks.lower_bound({model::AttemptKey{run, 0}, LogStream::Out, 0});
    for (; at != tables_->chunks.end() && at->second.attempt.run == run; ++at) {
      finder.pass(at->second.attempt, at->second.stream, place_of(at->second));
    }
  }
  return finder.take();
}

Result<std::vector<RunId>> MemoryStore::runs_with_logs(RunId after, std::int32_t limit) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<RunId> runs;
  for (const auto& [key, chunk] : tables_->chunks) {
    const RunId run = chunk.attempt.run;
    if (run <= after || (!runs.empty() && runs.back() == run)) continue;
    if (runs.size() >= static_cast<std::size_t>(std::clamp(limit, 1, 10'000))) break;
    runs.push_back(run);
  }
  return runs;
}

Result<std::vector<std::int64_t>> MemoryStore::bytes_of(const std::vector<RunId>& runs) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<std::int64_t> bytes;
  for (const RunId run : runs) {
    bytes.push_back(0);
    auto at = tables_->chunks.lower_bound({model::AttemptKey{run, 0}, LogStream::Out, 0});
    for (; at != tables_->chunks.end() && at->second.attempt.run == run; ++at) {
      bytes.back() += static_cast<std::int64_t>(at->second.bytes.size());
    }
  }
  return bytes;
}

Result<bool> MemoryStore::erase(const std::vector<RunId>& runs, std::int32_t most) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  auto& chunks = tables_->chunks;
  for (const RunId run : runs) {
    auto at = chunks.lower_bound({model::AttemptKey{run, 0}, LogStream::Out, 0});
    for (; at != chunks.end() && at->second.attempt.run == run; at = chunks.erase(at)) {
      if (most-- <= 0) return true;
    }
  }
  return false;
}

// --- retention ----------------------------------------------------------------------------------

Result<std::vector<LoggedRun>> MemoryStore::logged_runs(const std::vector<RunId>& runs) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  std::vector<LoggedRun> out;
  for (const RunId id : std::set<RunId>(runs.begin(), runs.end())) {
    const auto found = tables_->runs.find(id);
    if (found == tables_->runs.end()) continue;
    const model::Run& run = found->second;
    LoggedRun one{id, model::is_final(run.progress.state),
                  std::max(run.progress.ended.value_or(run.recorded), run.recorded), Millis{0}};
    const auto job = tables_->jobs.find(run.job);
    const auto version = job == tables_->jobs.end()
                             ? tables_->versions.end()
                             : tables_->versions.find({run.job, job->second.version});
    if (version != tables_->versions.end() && version->second.definition) {
      one.keep_logs = version->second.definition->rules.keep_logs;
    }
    out.push_back(one);
  }
  return out;
}

Result<void> MemoryStore::note_pruned(const std::vector<RunId>& runs, WallTime at) {
  const std::scoped_lock lock(mutex_);
  if (auto fine = up(); !fine) return fail(fine.error());
  for (const RunId run : runs) tables_->pruned.emplace(run, at);
  return {};
}

}  // namespace rota::master::store
