// Reading /proc: who is there, whose child, with which marker. Only for the means "scan", for the sweep
// and for the sampler; where namespaces exist no death is decided by looking.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "worker/warden/wire.h"

namespace rota::worker::warden {

/// A process by pid and start time, which no other process ever shares (in one boot).
struct ProcessIdentity {
  pid_t pid = -1;
  std::uint64_t start_ticks = 0;
  auto operator<=>(const ProcessIdentity&) const = default;
};

struct SeenProcess {
  ProcessIdentity identity;
  pid_t parent = -1;
  pid_t session = -1;
  bool is_dead = false;  ///< a zombie: ended, waiting to be reaped
  std::int64_t cpu_ticks = 0;       ///< its own, and of its children that it has waited for
  std::int64_t resident_pages = 0;
};

/// Everybody in this /proc, by ascending pid.
std::vector<SeenProcess> list_processes();
/// The children of this process's only thread, from the kernel's own list; nothing where the kernel
/// keeps none (CONFIG_PROC_CHILDREN). Ended children that nobody has reaped are among them.
std::optional<std::vector<pid_t>> own_children();
/// One process; nothing when it is gone.
std::optional<SeenProcess> look_at(pid_t pid);

/// The variable that marks every process of an attempt, and its value up to the attempt.
inline constexpr std::string_view kMarkVariable = "ROTA_SET_MARK";
/// A short name for a state folder, the same however the path is written (no file is touched).
std::string state_token(std::string_view state_dir);
/// The value of the marker: token.run.attempt
std::string mark_of(std::string_view token, const AttemptKey& key);
/// The value of the marker in a process's environment; empty when there is none or it may not be read.
std::string mark_in(pid_t pid);

/// Sends a signal to exactly this process: opens a pidfd, checks that the start time still is the same,
/// then signals through the pidfd. False when it is gone.
bool signal_exactly(const ProcessIdentity& who, int signal);

/// True when the process holds one of these pipes open.
bool holds_pipe(pid_t pid, const std::vector<std::uint64_t>& inodes);

}  // namespace rota::worker::warden
