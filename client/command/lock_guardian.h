// The half of `rota lock` that holds the lock. `rota lock` is two processes: the front, which its user starts
// and may kill, and the guardian, a child of the front, which has the ZooKeeper session and the command. When
// one of the two dies, the other ends the command and everything that it started. The guardian releases the
// lock only when none of these processes is left. A guardian that died releases nothing: the lock stays until
// its session ends.
//
//   what dies or stands still  who ends the command                     when the lock is free
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

/// Memory that both processes share.
struct LockBoard {
  std::atomic<bool> runs{false};            ///< the command was started
  std::atomic<std::int64_t> timeout_ms{0};  ///< of the session, before `runs`
  std::atomic<std::int64_t> held_us{0};     ///< BootClock: when the guardian last saw that it holds the lock
};

struct LockFront {
  pid_t pid = -1;
  pid_t group = -1;                         ///< also the command's, so that the terminal's keys reach it
};

/// The signals that end us, and SIGCHLD. Front and guardian each read them one by one in their only thread.
/// They are blocked before either process begins.
sigset_t watched_signals();
/// The next of these signals, or 0 after `at_most`.
int await_signal(Millis at_most);

/// How often both check each other.
inline constexpr Millis kLockLook{50};

/// Does everything that the guardian does, in a process of its own that has one thread when this is called.
/// Returns the exit status of `rota lock`.
int guard_lock(const LockArguments& arguments, const LockPlan& plan, const LockFront& front,
               LockBoard& board);

}  // namespace rota::client
