#include "master/store/logs/folder_log_store.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "common/base/log.h"
#include "master/store/logs/chunk_codec.h"

namespace rota::master::store {
namespace {

constexpr std::size_t kMostRecordsPerStripe = 20'000;
constexpr std::size_t kChunksPerSlice = 64;
constexpr std::size_t kFewFiles = 4;

std::string chunk_place_text(const LogChunk& chunk) {
  return fmt::format("log chunk of run {} attempt {} at {}", chunk.attempt.run.value,
                     chunk.attempt.attempt, chunk.offset);
}

LogStreamKey key_of(const LogChunk& chunk) { return {chunk.attempt, chunk.stream}; }

bool is_same(const LogChunk& chunk, std::int64_t length, std::uint32_t crc32) {
  return crc32 == chunk.crc32 && length == static_cast<std::int64_t>(chunk.bytes.size());
}

tl::unexpected<Error> disk_refusal(std::string_view doing, const std::string& file) {
  return fail(ErrorCode::Unavailable,
              fmt::format("log folder: {} {}: {}", doing, file, std::strerror(errno)));
}

Result<void> write_all(int file, std::string_view bytes, std::int64_t at, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file, bytes.data(), bytes.size(), at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return disk_refusal("write", name);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    at += written;
  }
  return {};
}

void log_damage(const std::string& file, const LogDamage& damage) {
  log_error("store", damage.is_tail ? "a log file ends in a torn record" : "a log file is damaged",
            {{"file", file}, {"at", damage.at}, {"bytes", damage.bytes}});
}

}  // namespace

FolderLogStore::FolderLogStore(FolderLogOptions options)
    : options_(std::move(options)), folder_(options_.folder) {}

Result<void> FolderLogStore::prepare() {
  const std::string& path = options_.folder;
  if (::mkdir(path.c_str(), 0750) != 0 && errno != EEXIST) return disk_refusal("make", path);
  if (::access(path.c_str(), R_OK | W_OK | X_OK) != 0) return disk_refusal("use", path);
  return {};
}

FolderLogStore::Stripe& FolderLogStore::stripe_of(RunId run) {
  return stripes_[static_cast<std::size_t>(run.value) % stripes_.size()];
}

/// Locks in the order of the stripes, so that two calls never deadlock.
std::vector<std::unique_lock<std::mutex>> FolderLogStore::lock_all(
    const std::vector<LogChunk>& chunks) {
  std::set<Stripe*> wanted;
  for (const LogChunk& chunk : chunks) wanted.insert(&stripe_of(chunk.attempt.run));
  std::vector<std::unique_lock<std::mutex>> locks;
  for (Stripe* stripe : wanted) locks.emplace_back(stripe->mutex);
  return locks;
}

std::string FolderLogStore::writer_name() const {
  return fmt::format("{}.{}", options_.writer, generation_.load());
}

// --- what is there ------------------------------------------------------------------------------

void FolderLogStore::add(StreamIndex& index, Stripe& stripe, const LogRecord& record,
                         const std::string& file) {
  if (index.records.emplace(record.place.offset, Kept{record, file}).second) ++stripe.records;
}

/// The stream's index, with all that any master has written by now. Its stripe is locked.
Result<FolderLogStore::StreamIndex*> FolderLogStore::refreshed(const LogStreamKey& key) {
  Stripe& stripe = stripe_of(key.attempt.run);
  if (stripe.records > kMostRecordsPerStripe) {
    stripe.streams.clear();
    stripe.records = 0;
  }
  const auto files = folder_.files_of(key);
  if (!files) return fail(files.error());
  StreamIndex& index = stripe.streams[key];
  const bool has_lost = std::ranges::any_of(index.scanned, [&](const auto& known) {
    return folder_.size_of(key.attempt.run, known.first) < known.second;
  });
  if (has_lost) {  // pruned, cut, taken back by its writer
    stripe.records -= index.records.size();
    index = {};
  }
  for (const std::string& name : *files) {
    if (auto scanned = scan_file(key, name, index); !scanned) return fail(scanned.error());
  }
  EndFinder finder(index.end);
  for (auto at = index.records.lower_bound(index.end); at != index.records.end(); ++at) {
    finder.pass(at->second.record.place);
  }
  index.end = finder.end();
  return &index;
}

Result<void> FolderLogStore::scan_file(const LogStreamKey& key, const std::string& name,
                                       StreamIndex& index) {
  auto file = folder_.open_to_read(key.attempt.run, name);
  if (!file) return file.error().code == ErrorCode::NotFound ? Result<void>() : fail(file.error());
  struct stat info {};
  if (::fstat(file->get(), &info) != 0) return disk_refusal("stat", name);
  std::int64_t& scanned = index.scanned[name];
  if (info.st_size <= scanned) return {};
  const auto found = scan_log(
      [&](std::int64_t at, std::size_t bytes) { return read_part(file->get(), at, bytes); }, scanned,
      info.st_size, key.attempt, key.stream);
  if (!found) return fail(found.error());
  scanned = found->end;
  Stripe& stripe = stripe_of(key.attempt.run);
  for (const LogRecord& record : found->records) add(index, stripe, record, name);
  // The coarse clock may be behind the file's.
  const std::int64_t age_s = std::max<std::int64_t>(std::time(nullptr) - info.st_mtime, 0);
  tell_damage(key, name, age_s, found->damage, index);
  return {};
}

void FolderLogStore::tell(const std::string& file, const LogDamage& damage) const {
  if (options_.damaged) return options_.damaged(file, damage);
  log_damage(file, damage);
}

void FolderLogStore::tell_damage(const LogStreamKey& key, const std::string& name,
                                 std::int64_t age_s, const std::vector<LogDamage>& damage,
                                 StreamIndex& index) {
  for (const LogDamage& one : damage) {
    if (one.is_tail && std::chrono::seconds{age_s} < options_.settle) continue;
    if (!index.told.emplace(name, one.at).second) continue;
    tell(folder_.folder_of(key.attempt.run) + "/" + name, one);
  }
}

// --- append -------------------------------------------------------------------------------------

Result<FolderLogStore::Plans> FolderLogStore::plan(const std::vector<LogChunk>& chunks) {
  Plans plans;
  std::map<std::pair<LogStreamKey, std::int64_t>, const LogChunk*> own;
  for (const LogChunk& chunk : chunks) {
    const LogStreamKey key = key_of(chunk);
    if (!plans.contains(key)) {
      if (auto index = refreshed(key); !index) return fail(index.error());
    }
    Plan& plan = plans[key];
    const StreamIndex& index = stripe_of(chunk.attempt.run).streams[key];
    const auto [mine, is_first] = own.emplace(std::pair{key, chunk.offset}, &chunk);
    const auto known = index.records.find(chunk.offset);
    const bool is_known = known != index.records.end();
    const bool agrees =
        is_known ? is_same(chunk, known->second.record.place.length, known->second.record.crc32)
                 : is_same(chunk, static_cast<std::int64_t>(mine->second->bytes.size()),
                           mine->second->crc32);
    if (!agrees) {
      return fail(ErrorCode::Conflict, chunk_place_text(chunk) + ": other bytes are stored there");
    }
    if (is_known) plan.synced_again.insert(known->second.file);
    if (!is_known && is_first) plan.fresh.push_back(&chunk);
  }
  return plans;
}

Result<FolderLogStore::Written> FolderLogStore::write_stream(
    const LogStreamKey& key, const std::vector<const LogChunk*>& chunks) {
  Written written;
  written.key = key;
  const std::string name = LogFolder::name_of(key, writer_name());
  auto opened = folder_.open_to_append(key.attempt.run, name);
  if (!opened) return fail(opened.error());
  written.file = std::move(opened->file);
  written.is_new = opened->is_new;
  std::int64_t& scanned = stripe_of(key.attempt.run).streams[key].scanned[name];
  if (written.is_new) scanned = 0;  // deleted just now
  written.before = scanned;
  written.name = name;
  std::string bytes;
  for (const LogChunk* chunk : chunks) bytes += encode_log_record(*chunk, options_.compress);
  auto put = write_all(written.file.get(), bytes, written.before, name);
  if (!put) {
    undo_write(written);
    return fail(put.error());
  }
  return written;
}

Result<std::vector<FolderLogStore::Written>> FolderLogStore::write(const Plans& plans) {
  std::vector<Written> all;
  for (const auto& [key, plan] : plans) {
    if (plan.fresh.empty()) continue;
    auto written = write_stream(key, plan.fresh);
    if (!written) {
      for (const Written& one : all) undo_write(one);
      return fail(written.error());
    }
    if (plans.size() > kFewFiles) written->file.reset();  // all are synced at once, by their folder
    all.push_back(std::move(*written));
  }
  return all;
}

/// Undoes a call that failed.
void FolderLogStore::undo_write(const Written& written) {
  if (!folder_.cut(written.key.attempt.run, written.name, written.before)) ++generation_;
}

/// Also syncs what another master wrote and this one confirms: the other may have died before its own sync.
Result<void> FolderLogStore::sync(const std::vector<Written>& written, const Plans& plans) {
  std::size_t known = 0;
  for (const auto& [key, plan] : plans) known += plan.synced_again.size();
  if (plans.size() > kFewFiles || written.size() + known > kFewFiles) return folder_.sync_all();
  for (const Written& one : written) {
    if (::fdatasync(one.file.get()) != 0) return disk_refusal("sync", "a log file");
    if (!one.is_new) continue;
    if (auto synced = folder_.sync_names(one.key.attempt.run); !synced) return synced;
  }
  for (const auto& [key, plan] : plans) {
    for (const std::string& name : plan.synced_again) {
      auto file = folder_.open_to_read(key.attempt.run, name);
      if (!file) return fail(ErrorCode::Unavailable, file.error().message);
      if (::fdatasync(file->get()) != 0) return disk_refusal("sync", name);
    }
  }
  return {};
}

Result<std::vector<std::int64_t>> FolderLogStore::append(const std::vector<LogChunk>& chunks) {
  for (const LogChunk& chunk : chunks) {
    if (auto fine = check_chunk(chunk); !fine) return fail(fine.error());
  }
  const auto locks = lock_all(chunks);
  const auto plans = plan(chunks);
  if (!plans) return fail(plans.error());
  const auto written = write(*plans);
  if (!written) return fail(written.error());
  if (auto synced = sync(*written, *plans); !synced) {
    // A kernel tells of a failed write-back only once: this file's next sync would prove nothing.
    ++generation_;
    for (const Written& one : *written) undo_write(one);
    return fail(synced.error());
  }
  std::map<LogStreamKey, std::int64_t> ends;
  for (const auto& [key, plan] : *plans) {
    auto index = refreshed(key);
    if (!index) return fail(index.error());
    ends[key] = (*index)->end;
  }
  std::vector<std::int64_t> answer;
  for (const LogChunk& chunk : chunks) answer.push_back(ends[key_of(chunk)]);
  return answer;
}

// --- read ---------------------------------------------------------------------------------------

Result<LogSlice> FolderLogStore::read(model::AttemptKey attempt, LogStream stream,
                                      std::int64_t offset, std::int64_t limit) {
  const LogStreamKey key{attempt, stream};
  std::vector<Kept> wanted;
  std::int64_t end = 0;
  {
    const std::scoped_lock lock(stripe_of(attempt.run).mutex);
    auto index = refreshed(key);
    if (!index) return fail(index.error());
    end = (*index)->end;
    const auto& records = (*index)->records;
    auto at = records.upper_bound(offset);
    if (at != records.begin()) --at;
    std::int64_t bytes = 0;
    for (; at != records.end() && wanted.size() < kChunksPerSlice; ++at) {
      wanted.push_back(at->second);
      if (at->second.record.place.end() > offset) bytes += at->second.record.place.length;
      if (bytes > kMostReadBytes || bytes - at->second.record.place.length > limit) break;
    }
  }
  SliceBuilder builder(offset, limit);
  for (const Kept& kept : wanted) {
    const auto bytes = bytes_of(key, kept);
    if (!bytes) return fail(bytes.error());
    if (!*bytes) continue;  // a hole, and told
    if (!builder.pass(kept.record.place, **bytes, wall_from_ms(kept.record.received_ms))) break;
  }
  return builder.finish(end);
}

Result<std::optional<std::string>> FolderLogStore::bytes_of(const LogStreamKey& key,
                                                            const Kept& kept) {
  const LogRecord& record = kept.record;
  auto file = folder_.open_to_read(key.attempt.run, kept.file);
  if (!file && file.error().code == ErrorCode::NotFound) return std::optional<std::string>();
  if (!file) return fail(file.error());
  auto packed = read_part(file->get(), record.packed_at(), record.packed_length);
  if (!packed) return fail(packed.error());
  auto bytes = unpack(record.codec, std::move(*packed), record.place.length, record.crc32);
  if (bytes) return std::optional(std::move(*bytes));
  tell(folder_.folder_of(key.attempt.run) + "/" + kept.file,
       LogDamage{record.at, record.next() - record.at, false});
  return std::optional<std::string>();
}

// --- verify -------------------------------------------------------------------------------------

Result<std::vector<StoredStream>> FolderLogStore::stored_of(const std::vector<RunId>& runs) {
  std::vector<StoredStream> out;
  for (const RunId run : std::set<RunId>(runs.begin(), runs.end())) {
    const auto keys = folder_.streams_of(run);
    if (!keys) return fail(keys.error());
    for (const LogStreamKey& key : *keys) {
      const auto stream = stored_stream(key);
      if (!stream) return fail(stream.error());
      if (stream->last > 0) out.push_back(*stream);
    }
  }
  return out;
}

/// From the heads in its files, past the index.
Result<StoredStream> FolderLogStore::stored_stream(const LogStreamKey& key) const {
  const auto files = folder_.files_of(key);
  if (!files) return fail(files.error());
  std::map<std::int64_t, ChunkPlace> places;
  for (const std::string& name : *files) {
    const auto file = folder_.open_to_read(key.attempt.run, name);
    if (!file && file.error().code == ErrorCode::NotFound) continue;
    if (!file) return fail(file.error());
    struct stat info {};
    if (::fstat(file->get(), &info) != 0) return disk_refusal("stat", name);
    const auto found = scan_log(
        [&](std::int64_t at, std::size_t bytes) { return read_part(file->get(), at, bytes); }, 0,
        info.st_size, key.attempt, key.stream, LogScanDepth::Heads);
    if (!found) return fail(found.error());
    for (const LogRecord& record : found->records) places.emplace(record.place.offset, record.place);
  }
  StreamFinder finder;
  for (const auto& [offset, place] : places) finder.pass(key.attempt, key.stream, place);
  const auto streams = finder.take();
  return streams.empty() ? StoredStream{key.attempt, key.stream, 0, 0} : streams.front();
}

// --- retention ----------------------------------------------------------------------------------

Result<std::vector<RunId>> FolderLogStore::runs_with_logs(RunId after, std::int32_t limit) {
  return folder_.runs_after(after, static_cast<std::size_t>(std::clamp(limit, 1, 10'000)));
}

Result<std::vector<std::int64_t>> FolderLogStore::bytes_of(const std::vector<RunId>& runs) {
  std::vector<std::int64_t> bytes;
  bytes.reserve(runs.size());
  for (const RunId run : runs) {
    const auto one = folder_.bytes_of(run);
    if (!one) return fail(one.error());
    bytes.push_back(*one);
  }
  return bytes;
}

Result<bool> FolderLogStore::erase(const std::vector<RunId>& runs, std::int32_t most) {
  for (const RunId run : runs) {
    const std::scoped_lock lock(stripe_of(run).mutex);
    const auto erased = folder_.erase(run, most);
    if (!erased) return fail(erased.error());
    most -= *erased;
    if (most <= 0) return true;
  }
  return false;
}

}  // namespace rota::master::store
