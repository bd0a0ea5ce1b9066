#include "worker/run/progress_collector.h"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include "common/base/file.h"
#include "common/base/log.h"

namespace rota::worker::run {

namespace {

constexpr std::size_t kReadAtOnce = 256u << 10;
constexpr std::size_t kReadAtEnd = 4u << 20;
constexpr Millis kPause{50};           // between two readings of one job

std::optional<model::AttemptKey> attempt_in(const std::string& name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return std::nullopt;
  model::AttemptKey key;
  const char* const end = name.data() + name.size();
  const auto run = std::from_chars(name.data(), name.data() + dot, key.run.value);
  const auto attempt = std::from_chars(name.data() + dot + 1, end, key.attempt);
  if (run.ec != std::errc{} || run.ptr != name.data() + dot) return std::nullopt;
  if (attempt.ec != std::errc{} || attempt.ptr != end) return std::nullopt;
  return key;
}

}  // namespace

ProgressCollector::ProgressCollector(std::string folder, int epoll, std::uint64_t first_token,
                             Listener listener)
    : folder_(std::move(folder)),
      epoll_(epoll),
      next_token_(first_token),
      listener_(std::move(listener)) {}

std::string ProgressCollector::path_of(model::AttemptKey key) const {
  return folder_ + "/" + std::to_string(key.run.value) + "." + std::to_string(key.attempt);
}

Result<void> ProgressCollector::start() {
  if (folder_.empty()) return {};
  if (auto made = make_folders(folder_, 0700); !made) return made;
  const auto names = names_in(folder_);
  if (!names) return fail(names.error());
  for (const std::string& name : *names) {
    const std::string path = folder_ + "/" + name;
    const auto key = attempt_in(name);
    const auto text = read_file(path);
    if (!key || !text) {
      ::unlink(path.c_str());
      continue;
    }
    std::scoped_lock lock(mutex_);
    files_[*key] = ProgressLines().feed(*text);
  }
  return {};
}

std::optional<Said> ProgressCollector::kept(model::AttemptKey attempt) const {
  std::scoped_lock lock(mutex_);
  const auto found = files_.find(attempt);
  return found == files_.end() ? std::nullopt : found->second;
}

void ProgressCollector::forget_all_but(const std::set<model::AttemptKey>& needed) {
  std::set<model::AttemptKey> rubbish;
  {
    std::scoped_lock lock(mutex_);
    for (const auto& [key, said] : files_) {
      if (!needed.contains(key)) rubbish.insert(key);
    }
  }
  for (const model::AttemptKey& key : rubbish) forget(key);
}

void ProgressCollector::watch(model::AttemptKey attempt, UniqueFd fd) {
  if (!fd.is_open()) return;
  Pipe& pipe = pipes_[attempt];
  pipe.fd = std::move(fd);
  pipe.token = next_token_++;
  tokens_[pipe.token] = attempt;
  if (auto before = kept(attempt)) pipe.total = std::move(*before);
  watch(pipe);
}

void ProgressCollector::watch(Pipe& pipe) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = pipe.token;
  pipe.is_watched = ::epoll_ctl(epoll_, EPOLL_CTL_ADD, pipe.fd.get(), &event) == 0;
}

void ProgressCollector::unwatch(Pipe& pipe) {
  if (!pipe.is_watched) return;
  pipe.is_watched = false;
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, pipe.fd.get(), nullptr);
}

void ProgressCollector::handle(std::uint64_t token, MonoTime now) {
  const auto found = tokens_.find(token);
  if (found == tokens_.end()) return;
  const model::AttemptKey key = found->second;
  Pipe& pipe = pipes_[key];
  unwatch(pipe);
  if (!read_pipe(key, pipe, kReadAtOnce)) {
    pipe.fd.reset();
    tokens_.erase(found);
    return;
  }
  pipe.resume_at = now + kPause;
  pauses_.emplace(*pipe.resume_at, key);
}

void ProgressCollector::resume_due(MonoTime now) {
  while (!pauses_.empty() && pauses_.begin()->first <= now) {
    Pipe& pipe = pipes_[pauses_.begin()->second];
    pauses_.erase(pauses_.begin());
    pipe.resume_at.reset();
    watch(pipe);
  }
}

std::optional<MonoTime> ProgressCollector::next_due() const {
  return pauses_.empty() ? std::nullopt : std::optional(pauses_.begin()->first);
}

/// False at the end of the pipe.
bool ProgressCollector::read_pipe(model::AttemptKey key, Pipe& pipe, std::size_t budget) {
  static thread_local std::array<char, 65'536> scratch;
  Said said;
  bool is_open = true;
  while (budget > 0) {
    const ssize_t got = ::read(pipe.fd.get(), scratch.data(), std::min(scratch.size(), budget));
    if (got < 0 && errno == EINTR) continue;
    is_open = got > 0 || (got < 0 && errno == EAGAIN);
    if (got <= 0) break;
    budget -= static_cast<std::size_t>(got);
    said.merge(pipe.lines.feed({scratch.data(), static_cast<std::size_t>(got)}));
  }
  pass_on(key, pipe, std::move(said));
  return is_open;
}

void ProgressCollector::pass_on(model::AttemptKey key, Pipe& pipe, Said said) {
  if (said.empty()) return;
  pipe.total.merge(said);
  if (said.is_lasting()) keep(key, pipe.total);
  listener_(key, said);
}

void ProgressCollector::keep(model::AttemptKey key, const Said& said) {
  if (folder_.empty()) return;
  {
    std::scoped_lock lock(mutex_);
    files_[key] = std::nullopt;
  }
  // No sync: it is to outlive this process; when the host dies the attempt dies too.
  const auto kept = replace_file(path_of(key), lines_of(said));
  if (!kept && !std::exchange(keep_failed_, true)) {
    log_warn("run", "what jobs say of themselves is in memory only, until there is room",
             {{"run", key.run.value}, {"why", kept.error().message}});
  }
  if (kept) keep_failed_ = false;
}

ProgressCollector::Total ProgressCollector::finish(model::AttemptKey attempt) {
  Total total;
  const auto found = pipes_.find(attempt);
  if (found == pipes_.end()) return total;
  Pipe& pipe = found->second;
  if (pipe.fd.is_open()) {
    unwatch(pipe);
    read_pipe(attempt, pipe, kReadAtEnd);
    tokens_.erase(pipe.token);
  }
  if (pipe.resume_at) pauses_.erase({*pipe.resume_at, attempt});
  pass_on(attempt, pipe, pipe.lines.finish());
  total = {std::move(pipe.total), pipe.lines.bad_lines(), pipe.lines.first_bad()};
  pipes_.erase(found);
  return total;
}

void ProgressCollector::forget(model::AttemptKey attempt) {
  {
    std::scoped_lock lock(mutex_);
    if (files_.erase(attempt) == 0) return;
  }
  ::unlink(path_of(attempt).c_str());
}

}  // namespace rota::worker::run
