#include "worker/run/set_sampler.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "common/base/unique_fd.h"

namespace rota::worker::run {

namespace {

constexpr Millis kFolderPause{1000};
constexpr int kEntriesPerLook = 20'000;  // some 20 ms

/// "Pss:" of smaps_rollup; -1 when it cannot be read.
std::int64_t proportional_bytes(pid_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/smaps_rollup";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[2048] = {};
  if (!file.is_open() || ::read(file.get(), text, sizeof text - 1) <= 0) return -1;
  const char* const line = std::strstr(text, "\nPss:");
  return line == nullptr ? -1 : std::strtoll(line + 5, nullptr, 10) * 1024;
}

/// Resident sizes first, which cost nothing: only when their sum, which counts what is shared several
/// times, passes the limit are the proportional ones asked for.
std::int64_t memory_of(const std::vector<const warden::SeenProcess*>& members, std::int64_t limit) {
  static const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  std::int64_t resident = 0;
  for (const auto* member : members) resident += member->resident_pages * page;
  if (resident <= limit) return resident;
  std::int64_t proportional = 0;
  for (const auto* member : members) {
    const std::int64_t part = proportional_bytes(member->identity.pid);
    proportional += part >= 0 ? part : member->resident_pages * page;
  }
  return proportional;
}

}  // namespace

std::vector<const warden::SeenProcess*> members_of(
    const SampledSet& set, const std::vector<warden::SeenProcess>& all,
    const std::set<warden::ProcessIdentity>& known) {
  std::multimap<pid_t, const warden::SeenProcess*> children;
  std::vector<const warden::SeenProcess*> members;
  std::set<pid_t> taken;
  const auto take = [&](const warden::SeenProcess& process) {
    if (taken.insert(process.identity.pid).second) members.push_back(&process);
  };
  for (const warden::SeenProcess& process : all) {
    children.emplace(process.parent, &process);
    const bool is_own = process.identity.pid == set.root || process.session == set.root ||
                        known.contains(process.identity);
    if (is_own) take(process);
  }
  for (std::size_t at = 0; at < members.size(); ++at) {
    const auto [from, to] = children.equal_range(members[at]->identity.pid);
    for (auto it = from; it != to; ++it) take(*it->second);
  }
  return members;
}

void SetSampler::start() {
  thread_ = std::jthread([this](std::stop_token stop) { run(stop); });
}

void SetSampler::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void SetSampler::add(model::AttemptKey key, SampledSet set) {
  if (set.root <= 0 || !needs_looks(set.limits)) return;
  {
    std::scoped_lock lock(mutex_);
    Watched& watched = watched_[key];
    watched.set = std::move(set);
  }
  changed_.notify_all();
}

void SetSampler::remove(model::AttemptKey key) {
  std::scoped_lock lock(mutex_);
  watched_.erase(key);
}

void SetSampler::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, stop, [&] { return !watched_.empty(); });
    }
    if (stop.stop_requested()) return;
    const Millis pause = look();
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, pause, [] { return false; });
  }
}

/// One look at everybody; the pause before the next. What is measured is a copy, so that nobody waits
/// for a look to end.
Millis SetSampler::look() {
  std::map<model::AttemptKey, Watched> copies;
  {
    std::scoped_lock lock(mutex_);
    copies = watched_;
  }
  const std::vector<warden::SeenProcess> all = warden::list_processes();
  Millis pause{kUsualLookPause};
  for (auto& [key, one] : copies) {
    const SetUsage usage = measure(one, all);
    pause = std::min(pause, pause_before_next(one.set.limits, usage));
    const auto excess = excess_of(one.set.limits, usage);
    one.looks_over = excess ? one.looks_over + 1 : 0;
    // Not everybody is looked at in the same moment: while processes come to share memory, what is
    // shared can be counted twice. The next look, soon after, sees it right.
    const bool is_sure = excess && (excess->by != warden::KilledBy::Memory || one.looks_over >= 2);
    const bool is_news = is_sure && (!one.is_told || (excess->is_wild && !one.is_told_wild));
    one.is_told = one.is_told || is_sure;
    one.is_told_wild = one.is_told_wild || (is_sure && excess->is_wild);
    {
      std::scoped_lock lock(mutex_);
      const auto found = watched_.find(key);
      if (found == watched_.end()) continue;  // it has ended meanwhile
      found->second = one;
    }
    if (is_news) observer_(key, *excess);
  }
  return pause;
}

/// Remembers who belongs to it, for the next look.
SetUsage SetSampler::measure(Watched& one, const std::vector<warden::SeenProcess>& all) {
  static const long ticks_per_second = ::sysconf(_SC_CLK_TCK);
  auto members = members_of(one.set, all, one.known);
  std::int64_t ticks = 0;
  one.known.clear();
  for (const warden::SeenProcess* member : members) {
    one.known.insert(member->identity);
    ticks += member->cpu_ticks;
  }
  if (!one.set.is_root_counted) {
    std::erase_if(members, [&](const auto* it) { return it->identity.pid == one.set.root; });
  }
  SetUsage usage;
  usage.cpu = Millis{ticks * 1000 / ticks_per_second};
  usage.processes = static_cast<std::int64_t>(members.size());
  const model::JobLimits& limits = one.set.limits;
  if (limits.memory_bytes > 0) usage.memory_bytes = memory_of(members, limits.memory_bytes);
  if (limits.folder_bytes > 0 && !one.set.folder.empty()) usage.folder_bytes = measure_folder(one);
  return usage;
}

/// A part of a pass over the folder. What the pass has seen so far is a lower bound already.
std::int64_t SetSampler::measure_folder(Watched& one) {
  const MonoTime now = BootClock::now();
  if (!one.walk) {
    if (now < one.next_folder_look) return 0;
    one.next_folder_look = now + kFolderPause;
    one.walk = std::make_shared<FolderWalk>(one.set.folder);
  }
  const bool is_done = one.walk->go_on(kEntriesPerLook);
  const std::int64_t bytes = one.walk->bytes();
  if (is_done) one.walk.reset();
  return bytes;
}

}  // namespace rota::worker::run
