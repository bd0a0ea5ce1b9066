#include "worker/warden/set_scanner.h"

#include <algorithm>
#include <utility>

namespace rota::worker::warden {

void SetScanner::set_ending(std::uint64_t serial) {
  const auto it = targets_.find(serial);
  if (it != targets_.end()) it->second.is_ending = true;
}

void SetScanner::remove(std::uint64_t serial) {
  targets_.erase(serial);
  std::erase_if(known_, [&](const auto& entry) { return entry.second == serial; });
}

SetScanner::Found SetScanner::scan(pid_t warden, pid_t proper) {
  return attribute(list_processes(), warden, proper);
}

SetScanner::Found SetScanner::attribute(const std::vector<SeenProcess>& all, pid_t warden,
                                        pid_t proper) {
  std::multimap<pid_t, const SeenProcess*> children;
  for (const SeenProcess& process : all) children.emplace(process.parent, &process);
  Found found;
  std::map<ProcessIdentity, std::uint64_t> still_known;
  // Parents before children, so that descent is known when a child is looked at.
  std::vector<std::pair<pid_t, std::uint64_t>> open{{warden, 0}};
  while (!open.empty()) {
    const auto [parent, parents_owner] = open.back();
    open.pop_back();
    const auto [from, to] = children.equal_range(parent);
    for (auto it = from; it != to; ++it) {
      const SeenProcess& process = *it->second;
      if (process.identity.pid == proper || process.is_dead) continue;
      const std::uint64_t owner = owner_of(process, parents_owner);
      open.emplace_back(process.identity.pid, owner);
      if (owner == 0) {
        place_stray(process, found);
        continue;
      }
      still_known[process.identity] = owner;
      found.members[owner].push_back(process.identity);
    }
  }
  known_ = std::move(still_known);
  return found;
}

/// 0: of nobody that we know.
std::uint64_t SetScanner::owner_of(const SeenProcess& process, std::uint64_t parents_owner) const {
  const auto known = known_.find(process.identity);
  if (known != known_.end()) return known->second;
  std::uint64_t newest = 0;  // a session's number may be used again once its main process is gone
  for (const auto& [serial, target] : targets_) {
    if (process.identity == target.main || process.session == target.main.pid) newest = serial;
  }
  if (newest != 0) return newest;
  return parents_owner != 0 ? parents_owner : owner_by_inspection(process);
}

std::uint64_t SetScanner::owner_by_inspection(const SeenProcess& process) const {
  const std::string mark = mark_in(process.identity.pid);
  for (const auto& [serial, target] : targets_) {
    if (!mark.empty() && mark == target.mark) return serial;
  }
  for (const auto& [serial, target] : targets_) {
    if (!target.pipes.empty() && holds_pipe(process.identity.pid, target.pipes)) return serial;
  }
  return 0;
}

/// A process that nothing ties to an attempt (it left its session, its environment and its pipes). It
/// can only be of attempts that started before it; when all of these are ending, it is ended too.
void SetScanner::place_stray(const SeenProcess& process, Found& found) const {
  std::vector<std::uint64_t> candidates;
  bool all_ending = true;
  for (const auto& [serial, target] : targets_) {
    if (target.main.start_ticks > process.identity.start_ticks) continue;
    candidates.push_back(serial);
    all_ending = all_ending && target.is_ending;
  }
  if (candidates.size() == 1 || (all_ending && !candidates.empty())) {
    found.members[candidates.front()].push_back(process.identity);
    return;
  }
  found.in_doubt.insert(candidates.begin(), candidates.end());
}

}  // namespace rota::worker::warden
