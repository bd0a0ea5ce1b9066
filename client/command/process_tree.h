// Finds the processes that descend from this one in /proc, and ends them. `rota lock` must know that no
// process of its command is alive before others may have the lock.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace rota::client {

/// From now on, a descendant whose parent ends becomes a child of this process, even when it has a session
/// of its own: none gets lost. False: the kernel refused.
bool adopt_orphans();

/// The children of this process at this moment. Before we start any, these belong to our caller (by exec).
std::vector<pid_t> children_now();

/// Ends all descendants of this process with SIGKILL, as often as it takes, except `spared` children and
/// their descendants. Returns once none is left, with the number found. Orphans must be adopted. Waits for
/// processes that it may not kill (another user's) or cannot see (no /proc of this pid namespace). Calls
/// `each_round` about every 10 ms.
std::size_t end_descendants(const std::vector<pid_t>& spared, const std::function<void()>& each_round);

}  // namespace rota::client
