#include "worker/run/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"
#include "worker/run/chunk_index.h"

namespace rota::worker::run {

namespace {

std::string base_name(StreamKey key) {
  return std::to_string(key.attempt.run.value) + "." + std::to_string(key.attempt.attempt) + "." +
         std::to_string(key.stream);
}

std::optional<StreamKey> key_in(const char* name) {
  long long run = 0;
  int attempt = 0;
  int stream = 0;
  int used = 0;
  if (std::sscanf(name, "%lld.%d.%d.index%n", &run, &attempt, &stream, &used) != 3 || used == 0 ||
      name[used] != '\0') {
    return std::nullopt;
  }
  return StreamKey{{RunId{run}, attempt}, stream};
}

}  // namespace

StreamPath Spool::path_of(StreamKey key) const {
  const std::string base = folder_ + "/" + base_name(key);
  return {base + ".data", base + ".index"};
}

Result<void> Spool::recover() {
  const auto names = names_in(folder_);
  if (!names) return fail(names.error());
  std::vector<StreamKey> keys;
  for (const std::string& name : *names) {
    if (const auto key = key_in(name.c_str())) keys.push_back(*key);
  }
  for (const StreamKey& key : keys) {
    auto stream = open(key, StreamLimits{});
    if (!stream) {
      log_error("run", "output of an earlier life cannot be read; it stays, and the next life tries again",
                {{"file", path_of(key).index}, {"why", stream.error().message}});
      continue;
    }
    if ((*stream)->damaged_index_bytes() > 0) {
      log_warn("run", "a spool index was torn or damaged; its last chunks are made anew",
               {{"file", path_of(key).index},
                {"line", (*stream)->border_count()},
                {"bytes", (*stream)->damaged_index_bytes()}});
    }
    note(key, (*stream)->border_count(), (*stream)->kept_bytes());
    closed(key);
  }
  return {};
}

void Spool::release_all_but(const std::set<model::AttemptKey>& held) {
  std::vector<StreamKey> left;
  {
    std::scoped_lock lock(mutex_);
    for (const auto& [key, entry] : entries_) {
      if (!held.contains(key.attempt)) left.push_back(key);
    }
  }
  for (const StreamKey& key : left) {
    if (auto finished = finish_left(key); finished) {
      outcome_acknowledged(key.attempt);
    } else {
      log_error("run", "the end of an earlier life's output cannot be fixed; the next life tries again",
                {{"file", path_of(key).index}, {"why", finished.error().message}});
    }
  }
}

/// Nobody will write to it any more.
Result<void> Spool::finish_left(StreamKey key) {
  auto stream = open(key, StreamLimits{});
  if (!stream) return fail(stream.error());
  auto fixed = (*stream)->finish(SystemClock().now());
  note(key, (*stream)->border_count(), (*stream)->kept_bytes());
  closed(key);
  if (!fixed) return fail(fixed.error());
  return {};
}

Result<std::unique_ptr<SpoolStream>> Spool::open(StreamKey key, StreamLimits limits) {
  auto stream = SpoolStream::open(path_of(key), limits);
  if (!stream && make_room()) stream = SpoolStream::open(path_of(key), limits);
  if (!stream) return stream;
  (*stream)->on_full_disk([this] { return make_room(); });
  std::scoped_lock lock(mutex_);
  Entry& entry = entries_[key];
  entry.is_open = true;
  entry.borders = (*stream)->border_count();
  unacknowledged_.insert(key.attempt);
  return stream;
}

void Spool::note(StreamKey key, std::int64_t borders, std::int64_t kept_bytes) {
  bool is_ready = false;
  {
    std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    Entry& entry = found->second;
    on_disk_ += kept_bytes - entry.kept_bytes;
    entry.kept_bytes = kept_bytes;
    entry.borders = borders;
    is_ready = entry.next < entry.borders;
  }
  if (is_ready) ready_.notify_all();
}

void Spool::closed(StreamKey key) {
  std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  found->second.is_open = false;
  remove_if_home(key);
}

bool Spool::has(StreamKey key) const {
  std::scoped_lock lock(mutex_);
  return entries_.contains(key);
}

bool Spool::is_full() const {
  std::scoped_lock lock(mutex_);
  return on_disk_ > limit_bytes_;
}

bool Spool::make_room() {
  std::scoped_lock lock(mutex_);
  for (auto& [key, entry] : entries_) {  // in the order of their runs
    const bool is_waiting = !entry.is_open && !entry.abandoned && !entry.is_read;
    if (is_waiting && cut(key, entry)) return true;
  }
  return false;
}

bool Spool::cut(const StreamKey& key, Entry& entry) {
  const std::int64_t first = std::max(entry.next, entry.handed);
  if (entry.borders - first < 2) return false;
  const auto dropped = cut_to_last_chunk(path_of(key), first);
  if (!dropped || *dropped == 0) return false;
  entry.borders = first + 1;
  const std::int64_t freed = std::min(*dropped, entry.kept_bytes);
  entry.kept_bytes -= freed;
  on_disk_ -= freed;
  log_warn("run", "no room for output; the oldest that waits to be sent is cut",
           {{"run", key.attempt.run.value},
            {"attempt", key.attempt.attempt},
            {"stream", key.stream},
            {"bytes", *dropped}});
  return freed > 0;
}

void Spool::outcome_acknowledged(model::AttemptKey attempt) {
  std::scoped_lock lock(mutex_);
  unacknowledged_.erase(attempt);
  remove_if_home({attempt, 1});
  remove_if_home({attempt, 2});
}

bool Spool::is_home(const StreamKey& key, const Entry& entry) const {
  return !entry.is_open && (entry.next >= entry.borders || entry.abandoned) &&
         !unacknowledged_.contains(key.attempt);
}

void Spool::remove_if_home(StreamKey key) {
  const auto found = entries_.find(key);
  if (found == entries_.end() || !is_home(key, found->second)) return;
  on_disk_ -= found->second.kept_bytes;
  entries_.erase(found);
  const StreamPath path = path_of(key);
  // The index first: without it the data file means nothing to a later life.
  ::unlink(path.index.c_str());
  ::unlink(path.data.c_str());
  if (entries_.empty()) ready_.notify_all();
}

bool Spool::has_pending() const {
  std::scoped_lock lock(mutex_);
  for (const auto& [key, entry] : entries_) {
    if (entry.next < entry.borders && !entry.abandoned) return true;
  }
  return false;
}

bool Spool::wait_pending(Millis at_most, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  return ready_.wait_for(lock, stop, at_most, [&] {
    for (const auto& [key, entry] : entries_) {
      if (entry.next < entry.borders && !entry.abandoned) return true;
    }
    return false;
  });
}

std::vector<PendingChunk> Spool::pending(std::int64_t most_bytes) {
  std::vector<std::pair<StreamKey, std::int64_t>> wanted;
  {
    std::scoped_lock lock(mutex_);
    const auto add = [&](const StreamKey& key, Entry& entry) {
      if (entry.next >= entry.borders || entry.abandoned || wanted.size() >= 512) return;
      wanted.emplace_back(key, entry.next);
      entry.is_read = true;
    };
    for (auto at = entries_.upper_bound(turn_); at != entries_.end(); ++at) add(at->first, at->second);
    for (auto at = entries_.begin(); at != entries_.upper_bound(turn_); ++at) {
      add(at->first, at->second);
    }
  }
  std::vector<PendingChunk> out;
  std::int64_t total = 0;
  for (const auto& [key, next] : wanted) {
    std::vector<ReadChunk> chunks;
    if (total < most_bytes && out.size() < 512) {
      if (auto read = read_chunks(path_of(key), next, most_bytes - total)) chunks = std::move(*read);
    }
    pass_marks(key, next, chunks);
    for (PendingChunk& chunk : whole_chunks(key, std::move(chunks))) {
      total += chunk.chunk.border.length;
      out.push_back(std::move(chunk));
    }
  }
  return out;
}

/// Those that can be sent. What is damaged is told by the next one as dropped before it; where nothing
/// follows any more, the stream ends there.
std::vector<PendingChunk> Spool::whole_chunks(StreamKey key, std::vector<ReadChunk> chunks) {
  std::vector<PendingChunk> out;
  std::int64_t damaged = 0;
  for (ReadChunk& chunk : chunks) {
    if (is_head_end(chunk.border)) continue;
    if (chunk.is_damaged) {
      damaged += chunk.border.dropped_before + chunk.border.length;
      tell_damage(key, chunk.border);
      continue;
    }
    chunk.border.dropped_before += std::exchange(damaged, 0);
    out.push_back({key, std::move(chunk)});
  }
  if (!out.empty() || damaged == 0) return out;
  std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end() || found->second.is_open) return out;
  found->second.abandoned = true;
  remove_if_home(key);
  return out;
}

void Spool::tell_damage(StreamKey key, const ChunkBorder& border) {
  {
    std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end() || found->second.told_damage >= border.raw_offset) return;
    found->second.told_damage = border.raw_offset;
  }
  log_error("run", "output is damaged on this worker's disk and told as missing",
            {{"file", path_of(key).data}, {"offset", border.raw_offset}, {"bytes", border.length}});
}

/// Lines that are no chunks need no answer: those at the front are passed at once.
void Spool::pass_marks(StreamKey key, std::int64_t begin, const std::vector<ReadChunk>& chunks) {
  std::int64_t next = begin;
  for (const ReadChunk& chunk : chunks) {
    if (!is_head_end(chunk.border)) break;
    ++next;
  }
  std::scoped_lock lock(mutex_);
  if (!chunks.empty()) turn_ = key;
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  Entry& entry = found->second;
  entry.is_read = false;
  entry.handed = std::max(entry.handed, begin + static_cast<std::int64_t>(chunks.size()));
  entry.next = std::max(entry.next, next);
  remove_if_home(key);
}

std::int64_t Spool::bytes() const {
  std::scoped_lock lock(mutex_);
  return on_disk_;
}

void Spool::stored(StreamKey key, std::int64_t log_end) {
  skip_stored(key, log_end);
  std::scoped_lock lock(mutex_);
  remove_if_home(key);
}

namespace {
/// The number of the first line, from `next` on, whose chunk ends beyond `raw_end`; a few are read at a
/// time, since there may be very many.
std::int64_t first_beyond(int index, std::int64_t next, std::int64_t borders,
                          std::int64_t raw_end) {
  constexpr std::int64_t kLines = 64;
  while (next < borders) {
    const auto most = static_cast<std::size_t>(std::min(kLines, borders - next));
    const auto lines = read_index(index, next, most);
    if (!lines || lines->empty()) return next;
    for (const ChunkBorder& border : *lines) {
      if (!is_head_end(border) && border.raw_offset + border.length > raw_end) return next;
      ++next;
    }
  }
  return next;
}

/// Whether something that was acknowledged is lost: the database went back.
bool lacks_earlier(int index, std::int64_t next, std::int64_t raw_end) {
  const auto lines = read_index(index, next, 1);
  if (!lines || lines->empty() || is_head_end(lines->front())) return false;
  return lines->front().raw_offset - lines->front().dropped_before > raw_end;
}
}  // namespace

/// Moves past all chunks that end at or before `log_end`; back to the first that does not, when that is lost.
void Spool::skip_stored(StreamKey key, std::int64_t log_end) {
  std::int64_t next = 0;
  std::int64_t borders = 0;
  {
    std::scoped_lock lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    next = found->second.next;
    borders = found->second.borders;
  }
  UniqueFd index(::open(path_of(key).index.c_str(), O_RDONLY | O_CLOEXEC));
  if (!index.is_open()) return;
  const bool goes_back = lacks_earlier(index.get(), next, log_end);
  next = first_beyond(index.get(), goes_back ? 0 : next, borders, log_end);
  std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  found->second.next = goes_back ? next : std::max(found->second.next, next);
}

void Spool::abandon(StreamKey key) {
  std::scoped_lock lock(mutex_);
  const auto found = entries_.find(key);
  if (found == entries_.end()) return;
  found->second.abandoned = true;
  remove_if_home(key);
}

bool Spool::wait_home(Millis at_most) {
  std::unique_lock lock(mutex_);
  return ready_.wait_for(lock, at_most, [&] { return entries_.empty(); });
}

std::size_t Spool::streams() const {
  std::scoped_lock lock(mutex_);
  return entries_.size();
}

}  // namespace rota::worker::run
