// The half of `rota lock` that holds the lock. `rota lock` is two processes: the front, which was started by
// somebody and may be killed by him, and the guardian, its child, which has the session with ZooKeeper and
// the command. Whichever of the two dies, the other one ends the command with all that it has started. The
// guardian gives the lock back only when nothing of that is left; a guardian that died gives nothing back,
// and the lock stays until its session ends.
//
//   who dies or stands still   who ends the command                     when the lock is free
//   front                      guardian, within 50 ms                   at once after that
//   guardian                   front, within 50 ms; the kernel ends     when the session ends: two thirds of
//                              the command's first process at once      the ttl or more later
//   guardian is stopped        front, after a third of the ttl          when the session ends
//   ZooKeeper                  guardian (common/zk/lock_loss.h)         when the session ends
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "client/command/commands.h"
#include "common/base/time.h"

namespace rota::client {

struct LockPlan {
  Millis patience{0};
  Millis ttl{0};
};

/// Memory that both share.
struct LockBoard {
  std::atomic<bool> runs{false};            ///< the command was begun
  std::atomic<std::int64_t> timeout_ms{0};  ///< of the session, before `runs`
  std::atomic<std::int64_t> held_us{0};     ///< BootClock: when the guardian last knew that it has the lock
};

struct LockFront {
  pid_t pid = -1;
  pid_t group = -1;                         ///< the command's too, so that a terminal's keys reach it
};

/// Taken one by one, by the front's and by the guardian's one thread: what ends us, and children's ends.
/// Blocked before either begins.
sigset_t watched_signals();
/// The next of them, or 0 after so long.
int await_signal(Millis at_most);

/// Both look so often at each other.
inline constexpr Millis kLockLook{50};

/// All that the guardian does, in a process of its own that has one thread when this is called. Gives the
/// exit status of `rota lock`.
int guard_lock(const LockArguments& arguments, const LockPlan& plan, const LockFront& front,
               LockBoard& board);

}  // namespace rota::client
