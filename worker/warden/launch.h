// How rota-worker comes to stand under its warden, and what is done when a warden has died.
#pragma once

#include <string>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::worker::warden {

struct LaunchOptions {
  std::string warden_path;        ///< empty: `rota-warden` beside the running executable
  std::string state_dir;          ///< the worker's; its name is part of the marker of every job
  std::string means = "auto";     ///< auto, pid_namespace, cgroup or scan
  std::string cgroup_dir;         ///< where to make cgroups; empty: below the own one
  int max_attempts = 0;           ///< 0: the warden's default (4,096)
};

/// Replaces this process with the warden, which starts `proper` (argv of the worker proper). Returns
/// only on failure, saying why.
Error exec_under_warden(const LaunchOptions& options, const std::vector<std::string>& proper);

/// What sweep() found.
struct SweepResult {
  bool empty = false;          ///< nothing marked with this state folder is left
  bool warden_lives = false;   ///< a living warden holds this state folder: nothing was touched
  int killed = 0;
  int left = 0;
};

/// Kills what a dead warden of this state folder left behind (SIGKILL by pidfd, identity checked after
/// the pidfd is opened) and looks again until two scans in a row see nothing, at most for `patience`.
/// With pid namespaces the kernel has done it already, and this only verifies. Harmless when repeated.
SweepResult sweep(const std::string& state_dir, Millis patience = Millis{5000});

/// The exit status for `rota-worker --sweep`: 0 when empty, else 3.
int sweep_exit_status(const SweepResult& result);

}  // namespace rota::worker::warden
