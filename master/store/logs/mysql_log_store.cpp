#include "master/store/logs/mysql_log_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "common/base/log.h"
#include "master/store/logs/chunk_codec.h"
#include "master/store/mysql/connection.h"
#include "master/store/logs/log_rules.h"
#include "master/store/mysql/multi_row.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {
namespace {

constexpr std::size_t kMostKnownEnds = 100'000;
constexpr int kChunksPerRead = 64;  // of 64 KiB: the most that one read gives

const MultiRow kInsertChunks{
    "INSERT INTO log_chunk (run_id, attempt, stream, offset_bytes, length_bytes, dropped_bytes, crc32, "
    "received_ms, codec, content) VALUES",
    10, "ON DUPLICATE KEY UPDATE run_id = run_id"};

void bind_chunk(Binder& binder, const LogChunk& chunk, const PackedBytes& packed) {
  binder.integer(chunk.attempt.run.value)
      .integer(chunk.attempt.attempt)
      .integer(static_cast<int>(chunk.stream))
      .integer(chunk.offset)
      .integer(static_cast<std::int64_t>(chunk.bytes.size()))
      .integer(chunk.dropped_before)
      .integer(chunk.crc32)
      .time(chunk.received)
      .integer(static_cast<int>(packed.codec))
      .text(packed.content);
}

void bind_stream(Binder& binder, model::AttemptKey attempt, LogStream stream) {
  binder.integer(attempt.run.value).integer(attempt.attempt).integer(static_cast<int>(stream));
}

ChunkPlace read_place(Row& row) {
  ChunkPlace place;
  place.offset = row.integer();
  place.length = row.integer();
  place.dropped_before = row.integer();
  return place;
}

void log_damaged_row(model::AttemptKey attempt, const ChunkPlace& place, const Error& error) {
  log_error("store", "a stored log chunk is damaged",
            {{"run", attempt.run.value},
             {"attempt", attempt.attempt},
             {"offset", place.offset},
             {"why", error.message}});
}

/// A key that was there already must hold the same bytes.
Result<void> check_same(Connection& connection, const LogChunk& chunk) {
  bool same = false;
  auto asked = connection.query(
      "SELECT length_bytes, crc32 FROM log_chunk "
      "WHERE run_id = ? AND attempt = ? AND stream = ? AND offset_bytes = ?",
      [&](Binder& binder) {
        bind_stream(binder, chunk.attempt, chunk.stream);
        binder.integer(chunk.offset);
      },
      [&](Row& row) -> Result<void> {
        same = row.integer() == static_cast<std::int64_t>(chunk.bytes.size()) &&
               row.integer() == static_cast<std::int64_t>(chunk.crc32);
        return {};
      });
  if (!asked || same) return asked;
  return fail(ErrorCode::Conflict,
              fmt::format("log chunk of run {} attempt {} at {}: other bytes are stored there",
                          chunk.attempt.run.value, chunk.attempt.attempt, chunk.offset));
}

/// Several chunks share one transaction, so that they share one sync of the server's log.
Result<void> insert(Connection& connection, const std::vector<LogChunk>& chunks,
                    const std::vector<PackedBytes>& packed) {
  const bool several = chunks.size() > 1;
  if (several) {
    if (auto begun = connection.begin(); !begun) return begun;
  }
  auto written = write_rows(
      connection, kInsertChunks,
      {chunks.size(),
       [&](Binder& binder, std::size_t i) { bind_chunk(binder, chunks[i], packed[i]); },
       [&](std::size_t i) { return packed[i].content.size() + 100; }});
  if (!written) return fail(written.error());
  if (*written != static_cast<std::int64_t>(chunks.size())) {
    for (const LogChunk& chunk : chunks) {
      if (auto same = check_same(connection, chunk); !same) return same;
    }
  }
  return several ? connection.end_transaction() : Result<void>();
}

}  // namespace

MysqlLogStore::MysqlLogStore(MysqlOptions options, PoolOptions pool, bool compress)
    : compress_(compress), pool_(std::move(options), pool) {}

/// On from what is known. Nothing: the chunk that it ends with is there no more.
Result<std::optional<MysqlLogStore::KnownEnd>> MysqlLogStore::walk(Connection& connection,
                                                                  const StreamKey& key, KnownEnd known) {
  bool stands = known.end == 0;
  EndFinder finder(known.end);
  auto walked = connection.query(
      "SELECT offset_bytes, length_bytes, dropped_bytes FROM log_chunk "
      "WHERE run_id = ? AND attempt = ? AND stream = ? AND offset_bytes >= ? ORDER BY offset_bytes",
      [&](Binder& binder) {
        bind_stream(binder, std::get<0>(key), std::get<1>(key));
        binder.integer(known.last.offset);
      },
      [&](Row& row) -> Result<void> {
        const ChunkPlace place = read_place(row);
        stands = stands || (place.offset == known.last.offset && place.end() == known.end);
        finder.pass(place);
        if (finder.end() == place.end()) known.last = place;
        return {};
      });
  if (!walked) return fail(walked.error());
  known.end = finder.end();
  return stands ? std::optional(known) : std::nullopt;
}

Result<std::int64_t> MysqlLogStore::stored_end(Connection& connection, const StreamKey& key) {
  KnownEnd known;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = known_ends_.find(key); found != known_ends_.end()) known = found->second;
  }
  auto walked = walk(connection, key, known);
  if (walked && !*walked) walked = walk(connection, key, {});
  if (!walked) return fail(walked.error());
  const std::scoped_lock lock(mutex_);
  if (known_ends_.size() >= kMostKnownEnds) known_ends_.clear();
  known_ends_[key] = **walked;
  return (*walked)->end;
}

Result<std::vector<std::int64_t>> MysqlLogStore::append(const std::vector<LogChunk>& chunks) {
  for (const LogChunk& chunk : chunks) {
    if (auto fine = check_chunk(chunk); !fine) return fail(fine.error());
  }
  std::vector<std::int64_t> ends;
  if (chunks.empty()) return ends;
  std::vector<PackedBytes> packed;
  for (const LogChunk& chunk : chunks) packed.push_back(pack(chunk.bytes, compress_));
  auto done = pool_.with([&](Connection& connection) -> Result<void> {
    ends.clear();
    if (auto put = insert(connection, chunks, packed); !put) return put;
    std::map<StreamKey, std::int64_t> found;
    for (const LogChunk& chunk : chunks) {
      const StreamKey key{chunk.attempt, chunk.stream};
      if (!found.contains(key)) {
        auto end = stored_end(connection, key);
        if (!end) return fail(end.error());
        found[key] = *end;
      }
      ends.push_back(found[key]);
    }
    return {};
  });
  if (!done) return fail(done.error());
  return ends;
}

Result<LogSlice> MysqlLogStore::read(model::AttemptKey attempt, LogStream stream, std::int64_t offset,
                                     std::int64_t limit) {
  LogSlice slice;
  auto done = pool_.with([&](Connection& connection) -> Result<void> {
    SliceBuilder builder(offset, limit);
    bool wanted = true;
    auto read = connection.query(
        fmt::format("SELECT offset_bytes, length_bytes, dropped_bytes, crc32, received_ms, codec, "
                    "content FROM log_chunk "
                    "WHERE run_id = ? AND attempt = ? AND stream = ? AND offset_bytes >= COALESCE("
                    "(SELECT MAX(c.offset_bytes) FROM log_chunk c WHERE c.run_id = ? AND c.attempt = ? "
                    "AND c.stream = ? AND c.offset_bytes <= ?), 0) ORDER BY offset_bytes LIMIT {}",
                    kChunksPerRead),
        [&](Binder& binder) {
          bind_stream(binder, attempt, stream);
          bind_stream(binder, attempt, stream);
          binder.integer(offset);
        },
        [&](Row& row) -> Result<void> {
          if (!wanted) return {};
          const ChunkPlace place = read_place(row);
          const auto crc32 = static_cast<std::uint32_t>(row.integer());
          const WallTime received = row.time();
          const std::int64_t codec = row.integer();
          const auto bytes = unpack(codec, row.text(), place.length, crc32);
          if (bytes) {
            wanted = builder.pass(place, *bytes, received);
          } else {
            log_damaged_row(attempt, place, bytes.error());  // it is read as a hole
          }
          return {};
        });
    if (!read) return read;
    auto end = stored_end(connection, {attempt, stream});
    if (!end) return fail(end.error());
    slice = builder.finish(*end);
    return {};
  });
  if (!done) return fail(done.error());
  return slice;
}

Result<std::vector<StoredStream>> MysqlLogStore::stored_of(const std::vector<RunId>& runs) {
  StreamFinder finder;
  if (runs.empty()) return finder.take();
  auto done = pool_.with([&](Connection& connection) {
    finder = {};
    return connection.stream(
        "SELECT run_id, attempt, stream, offset_bytes, length_bytes, dropped_bytes FROM log_chunk "
        "WHERE run_id IN (" + run_numbers(runs) + ") ORDER BY run_id, attempt, stream, offset_bytes",
        [&](Row& row) -> Result<void> {
          model::AttemptKey attempt;
          attempt.run = RunId{row.integer()};
          attempt.attempt = static_cast<AttemptNo>(row.integer());
          const auto stream = row.integer() == 1 ? LogStream::Out : LogStream::Err;
          finder.pass(attempt, stream, read_place(row));
          return {};
        });
  });
  if (!done) return fail(done.error());
  return finder.take();
}

Result<std::vector<RunId>> MysqlLogStore::runs_with_logs(RunId after, std::int32_t limit) {
  std::vector<RunId> runs;
  auto done = pool_.with([&](Connection& connection) {
    runs.clear();
    return connection.query(
        fmt::format("SELECT run_id FROM log_chunk WHERE run_id > ? GROUP BY run_id "
                    "ORDER BY run_id LIMIT {}",
                    std::clamp(limit, 1, 10'000)),
        [&](Binder& binder) { binder.integer(after.value); },
        [&](Row& row) -> Result<void> {
          runs.push_back(RunId{row.integer()});
          return {};
        });
  });
  if (!done) return fail(done.error());
  return runs;
}

Result<std::vector<std::int64_t>> MysqlLogStore::bytes_of(const std::vector<RunId>& runs) {
  std::vector<std::int64_t> bytes(runs.size(), 0);
  if (runs.empty()) return bytes;
  std::map<std::int64_t, std::int64_t> found;
  auto done = pool_.with([&](Connection& connection) {
    found.clear();
    return connection.stream("SELECT run_id, CAST(SUM(length_bytes) AS SIGNED) FROM log_chunk "
                             "WHERE run_id IN (" +
                                 run_numbers(runs) + ") GROUP BY run_id",
                             [&](Row& row) -> Result<void> {
                               const std::int64_t run = row.integer();
                               found[run] = row.integer();
                               return {};
                             });
  });
  if (!done) return fail(done.error());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (const auto at = found.find(runs[i].value); at != found.end()) bytes[i] = at->second;
  }
  return bytes;
}

Result<bool> MysqlLogStore::erase(const std::vector<RunId>& runs, std::int32_t most) {
  std::int64_t deleted = 0;
  auto done = pool_.with([&](Connection& connection) -> Result<void> {
    auto count = connection.run_text(
        fmt::format("DELETE FROM log_chunk WHERE run_id IN ({}) ORDER BY run_id, attempt, stream, "
                    "offset_bytes LIMIT {}",
                    run_numbers(runs), std::max(most, 1)));
    if (!count) return fail(count.error());
    deleted = *count;
    return {};
  });
  if (!done) return fail(done.error());
  return deleted >= most;
}

}  // namespace rota::master::store
