// Cgroups of version 2, as the warden uses them where no pid namespace can be made: each attempt starts
// in a folder of its own below the worker's, from which none of its processes can fall out by forking,
// changing its session or clearing its environment. One write kills all of them at once, and the kernel says
// when nobody is left. A process of root may still move itself elsewhere; the warden looks for those among
// its own children (see set_scanner.h), since it is their subreaper.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/base/unique_fd.h"
#include "worker/warden/wire.h"

namespace rota::worker::warden {

/// What an attempt may use, where the controllers are there; 0: as much as there is.
struct CgroupLimits {
  std::int64_t memory_bytes = 0;
  std::int64_t processes = 0;
  std::int32_t milli_cpus = 0;  ///< CPU time a second, in thousandths of a core
  bool any() const { return memory_bytes > 0 || processes > 0 || milli_cpus > 0; }
};

/// The folder of one attempt. Owner: the attempt. Thread: the warden's one.
class Cgroup {
 public:
  Cgroup(std::string path, UniqueFd folder) : path_(std::move(path)), folder_(std::move(folder)) {}

  /// For clone3 with CLONE_INTO_CGROUP.
  int fd() const { return folder_.get(); }
  const std::string& path() const { return path_; }
  /// SIGKILL to everybody in it and below it, new ones included where the kernel has cgroup.kill (5.14);
  /// without it, or on request, they are frozen and killed one by one.
  void kill(bool one_by_one = false) const;
  /// Removes the limit on the rate of CPU, in it and below it: a process that must end should not wait for
  /// its share before it leaves the kernel.
  void unthrottle() const;
  /// To each process, one by one; exactly to those in it.
  void signal_all(int number) const;
  /// The kernel says that nobody is in it or below it. False when that cannot be read.
  bool is_empty() const;
  /// What all that ever were in it have used; nothing when the kernel does not say.
  std::optional<std::int64_t> cpu_us() const;
  /// Whether the kernel has ended somebody in it because memory ran out.
  bool had_oom_kill() const;
  /// Removes the folder, and those that its processes have made below it. False while somebody is in it.
  bool remove();

 private:
  std::string path_;
  UniqueFd folder_;
};

/// The worker's folder, made below the cgroup that the warden itself is in. Owner: Warden.
class CgroupTree {
 public:
  /// Below this process's own cgroup. What a dead warden of that name has left in it is killed first.
  /// Unavailable: why this host does not let us.
  static Result<CgroupTree> open(const std::string& name);
  /// The same below a folder that is named.
  static Result<CgroupTree> open_below(const std::string& base, const std::string& name);

  CgroupTree(CgroupTree&& from) noexcept : path_(std::exchange(from.path_, {})) {}
  CgroupTree& operator=(CgroupTree&& from) noexcept {
    std::swap(path_, from.path_);
    return *this;
  }
  ~CgroupTree();

  /// A new folder for an attempt. Where a controller is missing its limit is left to others.
  Result<Cgroup> make(const std::string& name, const CgroupLimits& limits = {}) const;
  /// What the kernel can hold attempts to here.
  KernelLimits can_limit() const;
  const std::string& path() const { return path_; }

 private:
  explicit CgroupTree(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

/// The name of the tree of a state folder; without one it is this process's alone.
std::string tree_name(std::string_view state_dir);
/// Kills what is left in such a tree, wherever this process may reach one, and removes it. How many
/// processes are left after `patience`.
int clear_tree(const std::string& name, Millis patience);

/// Writes limits into a cgroup, for those controllers that it has. When the memory is used up the kernel
/// ends all of it and not one process.
bool hold_to(const std::string& path, const CgroupLimits& limits);

/// The folders of a process's own cgroup, by the texts of its mountinfo and its cgroup file. Pure.
std::vector<std::string> cgroup_folders(const std::string& mountinfo, const std::string& own);

}  // namespace rota::worker::warden
