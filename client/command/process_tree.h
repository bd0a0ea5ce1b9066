// The processes that descend from this one, found in /proc, and their end. For `rota lock`, which must know
// that nothing of its command lives before others may have the lock.
#pragma once

#include <sys/types.h>

#include <functional>
#include <vector>

namespace rota::client {

/// From now on a descendant whose parent ends becomes a child of this process: none gets lost, whatever
/// session it has made for itself. False: the kernel refused.
bool adopt_orphans();

/// Children of this process at this moment, which are none of ours when we have not started any.
std::vector<pid_t> children_now();

/// Ends all that descends from this process, except `spared` children and what is beneath them, and returns
/// once none of it is left: SIGKILL, as often as it takes. Orphans must be adopted. What may not be killed
/// (another user's) or cannot be seen (no /proc of this pid namespace) is waited for. `each_round` is called
/// about every 10 ms. Gives how many were found.
std::size_t end_descendants(const std::vector<pid_t>& spared, const std::function<void()>& each_round);

}  // namespace rota::client
