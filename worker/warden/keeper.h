// The keeper: pid 1 of the pid namespace that an attempt lives in. It mounts the namespace's /proc,
// starts the main process, reaps what is orphaned, passes TERM on to everybody, and ends as soon as
// the main process has ended. The kernel then kills whatever is left in the namespace and reports the
// keeper's own end only when nobody is left in it: that report is the proof of emptiness.
//
// A keeper may serve again when its attempt had no rights in its namespaces (it was not root). Then,
// after the main process, it asks the kernel whether it is alone in its pid namespace and whether its
// mounts are what they were. If so it says that the set is empty, which is the proof here, and waits for
// the next attempt of the same space and user. Any doubt, and it ends as above. System V memory and
// message queues are made anew for each attempt.
//
// Why a namespace for each attempt: one job cannot signal another, its `$$`, ps and kill agree with
// its own /proc, and no scan can miss a process. Measured on two cores with /bin/true (start, wait,
// one thread): plain vfork 2,500/s; keeper 1,750/s, and 2,300/s with four at a time; with a /proc of
// its own 1,490/s and 1,780/s. A cgroup proves as much, and must be writable, which it is on few hosts only.
#pragma once

#include <sys/resource.h>

#include <atomic>
#include <cstdint>

#include "common/base/time.h"
#include "common/base/unique_fd.h"
#include "worker/warden/process_start.h"
#include "worker/warden/resting_keepers.h"

namespace rota::worker::warden {

/// What keepers write to the one pipe that all of them share with the warden. Smaller than PIPE_BUF,
/// so that writes never mix.
struct KeeperNote {
  enum class Kind : std::uint32_t { Started = 1, NotStarted = 2, MainEnded = 3, Lapsed = 4, Emptied = 5 };
  std::uint64_t serial = 0;  ///< the warden's number of the attempt
  Kind kind = Kind::Started;
  std::uint32_t failed_step = 0;
  std::int32_t error = 0;
  std::int32_t wait_status = 0;
  std::int64_t at_boot_us = 0;
  std::int64_t due_boot_us = 0;  ///< MainEnded, Emptied, Lapsed: when it ends the set by itself; 0: never
  // MainEnded, Emptied: MainEnded of a keeper that is proven to be alone, and waits for the next order
  KeeperTotals used;                    ///< since the keeper's start
  std::int64_t peak_memory_bytes = 0;   ///< largest of the processes of this attempt that have ended
  char detail[200] = {};
};

/// As the kernel counts it.
KeeperTotals totals_of(const ::rusage& used);

struct KeeperPlan {
  std::uint64_t serial = 0;
  int notes_fd = -1;
  bool own_proc = true;  ///< mount a /proc for the namespace
  /// Until when the attempt may live (CLOCK_BOOTTIME, us; memory that the warden shares with all keepers),
  /// and for how long after. nullptr: forever. The keeper ends the set by itself a moment later, so that
  /// nothing outlives its voucher even when warden and proper are both stopped.
  const std::atomic<std::int64_t>* vouched_until_us = nullptr;
  Millis disconnect_grace{0};
  int orders_fd = -1;  ///< where further attempts come from (keeper_order.h); -1: it serves once
};

/// The warden acts on a lapsed voucher first; so much later the keeper acts, should the warden not.
inline constexpr Millis kLapseSlack{50};
/// At least so often it looks how long its voucher is now.
inline constexpr Millis kKeeperLooks{5000};

/// The keeper's own exit status when it ended its set because no voucher was left.
inline constexpr int kExitLapsed = 75;

/// Clones the keeper of a new namespace. `pid` and `pidfd` are the keeper's: SIGKILL to it ends the
/// whole set, ask_for_term() sends TERM to all of it. Whether the main process could be started comes as a
/// note. Fails only with StartStep::Fork. With a cgroup the main process is born into it; the keeper stays
/// outside, where no limit of the job's keeps it from ending the set.
StartedProcess start_kept(const ProcessPlan& plan, const KeeperPlan& keeper);

/// Asks the keeper to send TERM to all of this attempt's set. One that may serve again is told of which: a
/// signal for the attempt before must not reach the next.
void ask_for_term(int keeper_pidfd, std::uint64_t serial, bool may_serve_again);

/// Whether this process may make such namespaces, and whether they may have their own /proc.
struct NamespaceAbility {
  bool pid_namespace = false;
  bool own_proc = false;
  bool serve_again = false;  ///< who is not root has no rights in them, so that they can be used again
};
NamespaceAbility probe_namespaces();

}  // namespace rota::worker::warden
