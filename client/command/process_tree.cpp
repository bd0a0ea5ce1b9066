#include "client/command/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "common/base/unique_fd.h"

namespace rota::client {
namespace {

constexpr timespec kRound{0, 10'000'000};
constexpr int kMostStops = 20;  // rounds in which new processes are stopped, before all are killed

std::optional<pid_t> pid_from(std::string_view text) {
  pid_t pid = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return pid;
}

/// Field 4 of /proc/PID/stat; the name before it is in parentheses and may contain anything.
std::optional<pid_t> parent_of(pid_t pid) {
  const UniqueFd file(::open(("/proc/" + std::to_string(pid) + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  char bytes[512];
  const auto got = file.is_open() ? ::read(file.get(), bytes, sizeof bytes) : -1;
  if (got <= 0) return std::nullopt;
  const std::string_view line(bytes, static_cast<std::size_t>(got));
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string_view::npos || name_end + 4 >= line.size()) return std::nullopt;
  const std::string_view rest = line.substr(name_end + 4);  // after ") S "
  return pid_from(rest.substr(0, rest.find(' ')));
}

/// In /proc of another pid namespace the numbers belong to other processes.
bool is_proc_ours() {
  char own[32];
  const auto length = ::readlink("/proc/self", own, sizeof own);
  return length > 0 && pid_from({own, static_cast<std::size_t>(length)}) == ::getpid();
}

/// The children of every process.
std::multimap<pid_t, pid_t> all_children() {
  std::multimap<pid_t, pid_t> out;
  if (!is_proc_ours()) return out;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), &::closedir);
  while (const dirent* const entry = folder ? ::readdir(folder.get()) : nullptr) {
    const auto pid = pid_from(entry->d_name);
    const auto parent = pid ? parent_of(*pid) : std::nullopt;
    if (parent) out.emplace(*parent, *pid);
  }
  return out;
}

/// Each process before its own children.
std::vector<pid_t> descendants(const std::vector<pid_t>& spared) {
  const auto children = all_children();
  std::set<pid_t> seen;
  std::vector<pid_t> out;
  std::vector<pid_t> open{::getpid()};
  while (!open.empty()) {
    const auto [first, last] = children.equal_range(open.back());
    open.pop_back();
    for (auto at = first; at != last; ++at) {
      if (std::ranges::find(spared, at->second) != spared.end()) continue;
      if (!seen.insert(at->second).second) continue;
      out.push_back(at->second);
      open.push_back(at->second);
    }
  }
  return out;
}

/// True when this process has no children left.
bool reap_all() {
  pid_t pid = 0;
  while ((pid = ::waitpid(-1, nullptr, WNOHANG)) > 0) {
  }
  return pid < 0 && errno == ECHILD;
}

}  // namespace

bool adopt_orphans() { return ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0; }

std::vector<pid_t> children_now() {
  std::vector<pid_t> out;
  const auto children = all_children();
  const auto [first, last] = children.equal_range(::getpid());
  for (auto at = first; at != last; ++at) out.push_back(at->second);
  return out;
}

std::size_t end_descendants(const std::vector<pid_t>& spared, const std::function<void()>& each_round) {
  std::set<pid_t> known;
  const bool sees = is_proc_ours();
  // A process that forks faster than it is killed is stopped first; that takes effect at once.
  for (int round = 0;; ++round) {
    const bool is_childless = reap_all();
    const std::vector<pid_t> found = descendants(spared);
    if (is_childless || (sees && found.empty())) return known.size();
    const std::size_t before = known.size();
    known.insert(found.begin(), found.end());
    const bool has_newcomers = known.size() > before;
    const bool only_stops = has_newcomers && round < kMostStops;
    // Children before their parents: when our last child in a process group ends, the group may become
    // orphaned. If a process of an orphaned group is stopped, the kernel sends SIGHUP to the whole group,
    // to our caller too.
    std::for_each(found.rbegin(), found.rend(),
                  [&](pid_t pid) { ::kill(pid, only_stops ? SIGSTOP : SIGKILL); });
    if (only_stops) continue;
    each_round();
    ::nanosleep(&kRound, nullptr);
  }
}

}  // namespace rota::client
