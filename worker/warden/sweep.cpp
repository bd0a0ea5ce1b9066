#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "worker/warden/cgroup_tree.h"
#include "worker/warden/launch.h"
#include "worker/warden/life_lock.h"
#include "worker/warden/process_scan.h"

namespace rota::worker::warden {

namespace {

constexpr int kPauseMs = 5;

/// Living processes that carry a marker of this state folder.
std::vector<ProcessIdentity> marked_with(const std::string& token) {
  std::vector<ProcessIdentity> out;
  for (const SeenProcess& process : list_processes()) {
    if (process.is_dead || process.identity.pid == ::getpid()) continue;
    if (mark_in(process.identity.pid).starts_with(token + ".")) out.push_back(process.identity);
  }
  return out;
}

}  // namespace

SweepResult sweep(const std::string& state_dir, Millis patience) {
  SweepResult result;
  // Held while sweeping, so that no new warden starts jobs under our eyes.
  LifeLock lock;
  if (!lock.acquire(state_dir, Millis{300})) {
    result.warden_lives = true;
    return result;
  }
  const std::string token = state_token(state_dir);
  const MonoTime deadline = BootClock::now() + patience;
  std::set<ProcessIdentity> killed;
  for (int empty_scans = 0; empty_scans < 2;) {
    const std::vector<ProcessIdentity> left = marked_with(token);
    result.left = static_cast<int>(left.size());
    empty_scans = left.empty() ? empty_scans + 1 : 0;
    if (empty_scans == 2 || BootClock::now() >= deadline) break;
    for (const ProcessIdentity& who : left) {
      if (signal_exactly(who, SIGKILL)) killed.insert(who);
    }
    if (!left.empty()) ::poll(nullptr, 0, kPauseMs);
  }
  result.killed = static_cast<int>(killed.size());
  // Cgroups also know processes that have removed the marker.
  const auto rest = floor_ms(deadline - BootClock::now());
  result.left += clear_tree(tree_name(state_dir), std::max(rest, Millis{100}));
  result.empty = result.left == 0;
  return result;
}

int sweep_exit_status(const SweepResult& result) { return result.empty ? 0 : 3; }

}  // namespace rota::worker::warden
