#include "worker/run/set_sampler.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "common/base/unique_fd.h"

namespace rota::worker::run {

namespace {

constexpr Millis kFolderPause{1000};
constexpr Millis kFirstFigures{1000};  // most attempts are over before
constexpr Millis kFiguresEvery{2000};
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

ProcessTree::ProcessTree(const std::vector<warden::SeenProcess>& all) {
  for (const warden::SeenProcess& process : all) {
    children_.emplace(process.parent, &process);
    sessions_.emplace(process.session, &process);
    by_pid_.emplace(process.identity.pid, &process);
  }
}

std::vector<const warden::SeenProcess*> ProcessTree::members_of(
    const SampledSet& set, const std::set<warden::ProcessIdentity>& known) const {
  std::vector<const warden::SeenProcess*> members;
  std::set<pid_t> added;
  const auto add = [&](const warden::SeenProcess* process) {
    if (added.insert(process->identity.pid).second) members.push_back(process);
  };
  const auto add_all = [&add](const auto& range) {
    for (auto at = range.first; at != range.second; ++at) add(at->second);
  };
  if (const auto root = by_pid_.find(set.root); root != by_pid_.end()) add(root->second);
  add_all(sessions_.equal_range(set.root));
  for (const warden::ProcessIdentity& each : known) {
    const auto found = by_pid_.find(each.pid);
    if (found != by_pid_.end() && found->second->identity == each) add(found->second);
  }
  for (std::size_t at = 0; at < members.size(); ++at) {
    add_all(children_.equal_range(members[at]->identity.pid));
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
  if (set.root <= 0) return;
  const bool is_limited = needs_looks(set.limits);
  {
    std::scoped_lock lock(mutex_);
    Watched& watched = watched_[key];
    watched.set = std::move(set);
    watched.next_look = BootClock::now() + (is_limited ? Millis{0} : kFirstFigures);
    is_urgent_ = is_urgent_ || is_limited;
  }
  changed_.notify_all();
}

void SetSampler::remove(model::AttemptKey key) {
  std::scoped_lock lock(mutex_);
  watched_.erase(key);
}

SetSampler::Part SetSampler::seen_after(model::AttemptKey key, std::size_t most) const {
  Part part;
  std::scoped_lock lock(mutex_);
  auto at = watched_.upper_bound(key);
  for (std::size_t passed = 0; passed < watched_.size() && part.seen.size() < most; ++passed, ++at) {
    if (at == watched_.end()) at = watched_.begin();
    const Watched& one = at->second;
    part.through = at->first;
    if (one.looked) part.seen.push_back({at->first, one.usage, *one.looked, one.rate.percent()});
  }
  part.has_all = part.seen.size() < most || watched_.size() <= most;
  return part;
}

void SetSampler::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    wait_for_next(stop);
    if (!stop.stop_requested()) look(BootClock::now());
  }
}

void SetSampler::wait_for_next(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (!changed_.wait(lock, stop, [&] { return !watched_.empty(); })) return;
  MonoTime next = MonoTime::max();
  for (const auto& [key, one] : watched_) next = std::min(next, one.next_look);
  const MonoTime now = BootClock::now();
  if (next > now) changed_.wait_for(lock, stop, next - now, [&] { return is_urgent_; });
  is_urgent_ = false;
}

/// One look at everybody who is due. What is measured is a copy, so that nobody waits for a look to end.
void SetSampler::look(MonoTime now) {
  std::map<model::AttemptKey, Watched> copies;
  {
    std::scoped_lock lock(mutex_);
    for (const auto& [key, one] : watched_) {
      if (one.next_look <= now) copies.emplace(key, one);
    }
  }
  if (copies.empty()) return;
  const std::vector<warden::SeenProcess> all = warden::list_processes();
  const ProcessTree tree(all);
  for (auto& [key, one] : copies) {
    const SetUsage usage = one.usage = measure(one, tree);
    one.looked = now;
    one.rate.note(usage.cpu, now);
    const bool is_limited = needs_looks(one.set.limits);
    const Millis pause = is_limited ? pause_before_next(one.set.limits, usage) : kFiguresEvery;
    one.next_look = BootClock::now() + pause;
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
}

/// Remembers who belongs to it, for the next look.
SetUsage SetSampler::measure(Watched& one, const ProcessTree& tree) {
  static const long ticks_per_second = ::sysconf(_SC_CLK_TCK);
  auto members = tree.members_of(one.set, one.known);
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
  const bool is_bounded = limits.memory_bytes > 0;
  usage.memory_bytes = memory_of(members, is_bounded ? limits.memory_bytes : INT64_MAX);
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
