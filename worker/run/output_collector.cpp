#include "worker/run/output_collector.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "common/base/log.h"

namespace rota::worker::run {

namespace {

constexpr std::int64_t kTurnBytes = 1 << 20;

bool has_bytes(int pipe) {
  pollfd question{pipe, POLLIN, 0};
  return ::poll(&question, 1, 0) == 1 && (question.revents & POLLIN) != 0;
}

/// Reads and forgets; the number of bytes. For when there is nowhere to put them.
std::int64_t read_away(int pipe) {
  static thread_local std::array<char, 65'536> scratch;
  std::int64_t total = 0;
  while (total < kTurnBytes && has_bytes(pipe)) {
    const ssize_t got = ::read(pipe, scratch.data(), scratch.size());
    if (got <= 0) break;
    total += got;
  }
  return total;
}

}  // namespace

void OutputCollector::watch(StreamKey key, UniqueFd pipe, std::int64_t cap_bytes) {
  if (!pipe.is_open()) return;
  Pipe& entry = pipes_[key];
  entry.cap_bytes = cap_bytes > 0 ? std::min(cap_bytes, limits_.cap_bytes) : limits_.cap_bytes;
  entry.fd = std::move(pipe);
  entry.token = next_token_++;
  tokens_[entry.token] = key;
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = entry.token;
  ::epoll_ctl(epoll_, EPOLL_CTL_ADD, entry.fd.get(), &event);
  if (!entry.stream && spool_.has(key)) open_stream(key, entry);  // adopted from an earlier life
}

void OutputCollector::follow(StreamKey key, UniqueFd pipe, std::int64_t cap_bytes, std::string mark,
                             MonoTime now) {
  if (!pipe.is_open()) return;
  if (const auto found = pipes_.find(key); found != pipes_.end()) {
    Pipe& first = found->second;
    const bool has_more = first.fd.is_open() && (first.stream || has_bytes(first.fd.get()));
    if (has_more) collect(key, first, std::numeric_limits<std::int32_t>::max(), now);
    drop(first);
  }
  watch(key, std::move(pipe), cap_bytes);
  pipes_[key].mark = std::move(mark);
}

/// Through a pipe of its own, as all that the stream holds.
void OutputCollector::put_mark(const StreamKey& key, Pipe& pipe, MonoTime now) {
  const std::string mark = std::exchange(pipe.mark, {});
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  UniqueFd read_end(ends[0]);
  {
    const UniqueFd write_end(ends[1]);
    (void)!::write(write_end.get(), mark.data(), mark.size());
  }
  if (!pipe.stream && !open_stream(key, pipe)) return;
  (void)pipe.stream->read_pipe(read_end.get(), kTurnBytes, now);
}

void OutputCollector::handle(std::uint64_t token, std::uint32_t events, Now now) {
  const auto found = tokens_.find(token);
  if (found == tokens_.end()) return;
  const StreamKey key = found->second;
  Pipe& pipe = pipes_[key];
  if ((events & EPOLLIN) == 0) {
    drop(pipe);
    return;
  }
  collect(key, pipe, kTurnBytes, now.mono);
  if (!pipe.stream) return;
  const auto due = pipe.stream->border_due();
  if (due && *due <= now.mono) {
    if (!pipe.stream->fix_borders(now)) log_warn("run", "a log chunk could not be fixed");
  }
  note(key, pipe);
}

void OutputCollector::collect(const StreamKey& key, Pipe& pipe, std::int64_t budget, MonoTime now) {
  if (!pipe.fd.is_open()) return;
  if (!pipe.mark.empty() && has_bytes(pipe.fd.get())) put_mark(key, pipe, now);
  if (!pipe.stream && !open_stream(key, pipe)) {
    pipe.lost += read_away(pipe.fd.get());
    return;
  }
  while (spool_.is_full()) {
    if (spool_.make_room()) continue;
    pipe.stream->stop_keeping();
    break;
  }
  if (pipe.stream->read_pipe(pipe.fd.get(), budget, now).at_end) drop(pipe);
}

bool OutputCollector::open_stream(const StreamKey& key, Pipe& pipe) {
  if (pipe.is_failed) return false;
  StreamLimits limits = limits_;
  limits.cap_bytes = pipe.cap_bytes;
  auto stream = spool_.open(key, limits);
  if (!stream) {
    pipe.is_failed = true;
    log_error("run", "output of an attempt cannot be kept",
              {{"run", key.attempt.run.value}, {"why", stream.error().message}});
    return false;
  }
  pipe.stream = std::move(*stream);
  return true;
}

void OutputCollector::drop(Pipe& pipe) {
  if (!pipe.fd.is_open()) return;
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, pipe.fd.get(), nullptr);
  tokens_.erase(pipe.token);
  pipe.fd.reset();
}

void OutputCollector::note(const StreamKey& key, const Pipe& pipe) {
  spool_.note(key, pipe.stream->border_count(), pipe.stream->kept_bytes());
}

void OutputCollector::fix_due(Now now) {
  for (auto& [key, pipe] : pipes_) {
    if (!pipe.stream) continue;
    const auto due = pipe.stream->border_due();
    if (!due || *due > now.mono) continue;
    if (!pipe.stream->fix_borders(now)) log_warn("run", "a log chunk could not be fixed");
    note(key, pipe);
  }
}

std::optional<MonoTime> OutputCollector::next_due() const {
  std::optional<MonoTime> next;
  for (const auto& [key, pipe] : pipes_) {
    if (!pipe.stream) continue;
    const auto due = pipe.stream->border_due();
    if (due && (!next || *due < *next)) next = due;
  }
  return next;
}

OutputTotals OutputCollector::finish(model::AttemptKey attempt, Now now) {
  OutputTotals totals;
  for (const int stream : {1, 2}) {
    const StreamKey key{attempt, stream};
    const auto found = pipes_.find(key);
    if (found == pipes_.end()) continue;
    Pipe& pipe = found->second;
    if (pipe.fd.is_open() && (pipe.stream || has_bytes(pipe.fd.get()))) {
      collect(key, pipe, std::numeric_limits<std::int32_t>::max(), now.mono);
    }
    drop(pipe);
    totals.lost_bytes += pipe.lost;
    if (pipe.stream) {
      if (!pipe.stream->finish(now)) log_warn("run", "the last log chunks could not be fixed");
      note(key, pipe);
      spool_.closed(key);
      totals.lost_bytes += pipe.stream->lost_bytes();
      (stream == 1 ? totals.stdout_bytes : totals.stderr_bytes) = pipe.stream->raw_bytes();
    }
    pipes_.erase(found);
  }
  return totals;
}

}  // namespace rota::worker::run
