#include "worker/warden/outer.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "worker/warden/complain.h"
#include "worker/warden/life_lock.h"
#include "worker/warden/process_start.h"
#include "worker/warden/warden.h"

namespace rota::worker::warden {

namespace {

constexpr Millis kLockPatience{3000};  // a dead warden's namespace may need a moment to empty

/// What the inner warden gets from the outer one.
struct Inheritance {
  UniqueFd alive_read, alive_write;  // the outer one holds the write end for as long as it lives
  UniqueFd ready_read, ready_write;  // one byte: the namespace is set up
  uid_t uid = ::geteuid();
  gid_t gid = ::getegid();
};

bool open_pipe(UniqueFd& read_end, UniqueFd& write_end) {
  int pair[2] = {-1, -1};
  if (::pipe2(pair, O_CLOEXEC) != 0) return false;
  read_end.reset(pair[0]);
  write_end.reset(pair[1]);
  return true;
}

bool write_text(const char* path, const std::string& text) {
  const UniqueFd file(::open(path, O_WRONLY | O_CLOEXEC));
  return file.is_open() && ::write(file.get(), text.data(), text.size()) ==
                               static_cast<ssize_t>(text.size());
}

/// In a user namespace everybody keeps the number that he had outside.
bool keep_own_ids(const Inheritance& from) {
  const std::string uid = std::to_string(from.uid), gid = std::to_string(from.gid);
  return write_text("/proc/self/uid_map", uid + " " + uid + " 1") &&
         write_text("/proc/self/setgroups", "deny") &&
         write_text("/proc/self/gid_map", gid + " " + gid + " 1");
}

bool has_hung_up(int fd) {
  pollfd item{fd, 0, 0};
  return ::poll(&item, 1, 0) > 0;
}

/// Whoever names a folder for them is told when it cannot be used.
Result<CgroupTree> open_cgroups(const WardenOptions& options) {
  const std::string name = tree_name(options.state_dir);
  if (options.cgroup_dir.empty()) return CgroupTree::open(name);
  Result<CgroupTree> tree = CgroupTree::open_below(options.cgroup_dir, name);
  if (!tree) complain("cgroup_dir cannot be used", tree.error().message);
  if (tree && !tree->can_limit().any()) {
    complain("cgroup_dir hands no controller down, so that the kernel holds no limits", options.cgroup_dir);
  }
  return tree;
}

/// Beside pid namespaces: only for what the kernel can limit, or on request.
std::optional<CgroupTree> cgroups_for_limits(const WardenOptions& options) {
  Result<CgroupTree> tree = open_cgroups(options);
  if (!tree || (!tree->can_limit().any() && options.cgroup_dir.empty())) return std::nullopt;
  return std::move(*tree);
}

/// pid 1 of the new namespace. Says by one byte that the namespace can be used; without it the outer
/// warden tries the next way.
[[noreturn]] void run_inner(const WardenOptions& options, Inheritance& from, bool user_namespace) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  from.alive_write.reset();
  if (has_hung_up(from.alive_read.get())) ::_exit(kExitKilled);  // it died before the line above
  if (user_namespace && !keep_own_ids(from)) ::_exit(kExitKilled);
  UniqueFd old_proc(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ::setsid();
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    ::_exit(kExitKilled);
  }
  const NamespaceAbility ability = probe_namespaces();
  std::optional<CgroupTree> cgroups = cgroups_for_limits(options);
  if (::write(from.ready_write.get(), "y", 1) != 1) ::_exit(kExitKilled);
  from.ready_write.reset();
  from.ready_read.reset();
  Warden warden({options, Means::PidNamespace, ability, std::move(from.alive_read), std::move(old_proc),
                 std::move(cgroups)});
  ::_exit(warden.run());
}

pid_t clone_inner(const WardenOptions& options, Inheritance& from, bool user_namespace) {
  clone_args arguments{};
  arguments.flags = CLONE_NEWPID | CLONE_NEWNS | (user_namespace ? CLONE_NEWUSER : 0);
  arguments.exit_signal = SIGCHLD;
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
  if (pid == 0) run_inner(options, from, user_namespace);
  return pid;
}

/// The inner warden's pid, or -1 when no such namespace can be made here.
pid_t start_inner(const WardenOptions& options, UniqueFd& alive, bool user_namespace) {
  Inheritance inheritance;
  if (!open_pipe(inheritance.alive_read, inheritance.alive_write) ||
      !open_pipe(inheritance.ready_read, inheritance.ready_write)) {
    return -1;
  }
  const pid_t pid = clone_inner(options, inheritance, user_namespace);
  if (pid < 0) return -1;
  inheritance.ready_write.reset();
  char answer = 0;
  if (::read(inheritance.ready_read.get(), &answer, 1) == 1) {
    alive = std::move(inheritance.alive_write);
    return pid;
  }
  ::waitpid(pid, nullptr, 0);
  return -1;
}

void block_all_signals() {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
}

/// Passes signals on and waits for the inner warden's end.
int attend(pid_t inner) {
  sigset_t all;
  sigfillset(&all);
  for (;;) {
    int status = 0;
    if (::waitpid(inner, &status, WNOHANG) == inner) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : kExitKilled;
    }
    const int number = ::sigwaitinfo(&all, nullptr);
    for (const int passed : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) {
      if (number == passed) ::kill(inner, number);
    }
  }
}

/// One warden for all: orphans come to it, and what a scan finds it kills.
int run_single(WardenOptions options, std::optional<CgroupTree> cgroups) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const Means means = cgroups ? Means::Cgroup : Means::Scan;
  Warden warden({std::move(options), means, {}, UniqueFd{}, UniqueFd{}, std::move(cgroups)});
  return warden.run();
}

/// Without a pid namespace.
int run_without(WardenOptions options) {
  using Choice = WardenOptions::MeansChoice;
  if (options.means == Choice::Scan) return run_single(std::move(options), std::nullopt);
  Result<CgroupTree> cgroups = open_cgroups(options);
  if (cgroups) return run_single(std::move(options), std::move(*cgroups));
  if (options.means == Choice::Auto) return run_single(std::move(options), std::nullopt);
  complain("cannot make cgroups", cgroups.error().message);
  return kExitUsage;
}

}  // namespace

int run_warden(WardenOptions options) {
  occupy_low_descriptors();
  block_all_signals();
  LifeLock lock;
  if (!options.state_dir.empty() && !lock.acquire(options.state_dir, kLockPatience)) {
    complain("another warden holds the state folder", options.state_dir);
    return kExitUsage;
  }
  using Choice = WardenOptions::MeansChoice;
  if (options.means == Choice::Scan || options.means == Choice::Cgroup) {
    return run_without(std::move(options));
  }
  UniqueFd alive;
  pid_t inner = start_inner(options, alive, false);
  if (inner < 0) inner = start_inner(options, alive, true);
  if (inner > 0) {
    lock.release();  // the inner warden has its own copy: it is the one that counts
    return attend(inner);
  }
  if (options.means == WardenOptions::MeansChoice::PidNamespace) {
    complain("cannot make a pid namespace", "neither as this user nor in a user namespace");
    return kExitUsage;
  }
  return run_without(std::move(options));
}

}  // namespace rota::worker::warden
