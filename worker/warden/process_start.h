// Starting one process from a small single-threaded parent: everything is prepared before the clone,
// the child then only makes system calls. The child borrows the parent's memory until exec
// (CLONE_VM | CLONE_VFORK), so that a failed step comes back as plain numbers, at no cost.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/base/unique_fd.h"
#include "worker/warden/wire.h"

namespace rota::worker::warden {

/// What the new process is to be. Descriptors are borrowed; those given become 0 to 3.
struct ProcessPlan {
  std::vector<std::string> argv;
  std::vector<std::string> environment;
  std::string folder = "/";
  std::uint32_t umask = 022;
  std::int32_t nice = 0;
  std::vector<Limit> limits;
  std::optional<User> user;
  int stdin_fd = -1, stdout_fd = -1, stderr_fd = -1;  ///< -1: as the parent's
  int extra_fd = -1;                                  ///< becomes 3; -1: none
  bool is_job = true;          ///< its own session, no new privileges, our umask and folder
  bool dies_with_parent = false;
  bool own_ipc = false;        ///< System V memory and message queues of its own, which vanish with its set
  int cgroup_fd = -1;          ///< it is born in there; -1: where the parent is
};

struct StartedProcess {
  pid_t pid = -1;
  UniqueFd pidfd;
  StartStep failed_step = StartStep::None;
  int error = 0;
  std::string detail;  ///< what failed, for people
};

/// Starts it and waits until exec has happened or failed; a child that failed has been reaped. The
/// caller has one thread, blocks all signals that it handles, and has 0 to 3 open (see
/// `occupy_low_descriptors`).
StartedProcess start_process(const ProcessPlan& plan);

/// This process and all that it starts: when memory runs out the kernel should end a job, and neither
/// the worker nor another service.
void offer_to_oom_killer();

/// Opens /dev/null on whatever of 0 to 3 is closed, so that no later descriptor lands there.
void occupy_low_descriptors();

}  // namespace rota::worker::warden
