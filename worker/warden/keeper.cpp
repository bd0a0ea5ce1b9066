#include "worker/warden/keeper.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "common/base/time.h"

namespace rota::worker::warden {

namespace {

/// fork() into new namespaces with a pidfd. Only for a process with one thread.
pid_t fork_into(std::uint64_t flags, int* pidfd) {
  clone_args arguments{};
  arguments.flags = flags | CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uint64_t>(pidfd);
  arguments.exit_signal = SIGCHLD;
  return static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
}

bool mount_own_proc() {
  return ::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) == 0;
}

/// Closes all but the descriptors given and 0 to 2.
void close_others(std::vector<int> kept) {
  std::sort(kept.begin(), kept.end());
  unsigned next = 3;
  for (const int fd : kept) {
    if (fd < static_cast<int>(next)) continue;
    if (static_cast<unsigned>(fd) > next) ::close_range(next, static_cast<unsigned>(fd) - 1, 0);
    next = static_cast<unsigned>(fd) + 1;
  }
  ::close_range(next, ~0u, 0);
}

/// Where the rate of CPU of a cgroup is limited; not open: it is not.
UniqueFd throttle_of(int cgroup_fd) {
  return UniqueFd(cgroup_fd < 0 ? -1 : ::openat(cgroup_fd, "cpu.max", O_WRONLY | O_CLOEXEC));
}

/// As Cgroup::unthrottle: the warden may be stopped, and cannot do it then.
void lift(const UniqueFd& throttle) {
  if (throttle.is_open()) (void)!::write(throttle.get(), "max", 3);
}

void tell(const KeeperPlan& keeper, KeeperNote note) {
  note.serial = keeper.serial;
  note.at_boot_us = BootClock::now().time_since_epoch().count();
  while (::write(keeper.notes_fd, &note, sizeof note) < 0 && errno == EINTR) {
  }
}

void tell_not_started(const KeeperPlan& keeper, const StartedProcess& main) {
  KeeperNote note;
  note.kind = KeeperNote::Kind::NotStarted;
  note.failed_step = static_cast<std::uint32_t>(main.failed_step);
  note.error = main.error;
  main.detail.copy(note.detail, sizeof note.detail - 1);
  tell(keeper, note);
}

/// Reaps everybody who has ended; the status of the main process once it is among them.
std::optional<int> reap(pid_t main) {
  std::optional<int> main_status;
  int status = 0;
  for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == main) main_status = status;
  }
  return main_status;
}

/// TERM to all in the namespace; CONT after it, so that who is stopped can act on it.
void term_everybody() {
  ::kill(-1, SIGTERM);
  ::kill(-1, SIGCONT);
}

constexpr Micros kLongestWait = kKeeperLooks;

/// When the keeper ends the set by itself.
std::optional<MonoTime> end_due(const KeeperPlan& keeper) {
  if (keeper.vouched_until_us == nullptr) return std::nullopt;
  return MonoTime{Micros{keeper.vouched_until_us->load()}} + keeper.disconnect_grace + kLapseSlack;
}

/// How long the attempt may still live; nothing when nobody vouches for it any more.
std::optional<Micros> time_left(const KeeperPlan& keeper) {
  const auto end = end_due(keeper);
  if (!end) return kLongestWait;
  const Micros left = *end - BootClock::now();
  if (left <= Micros{0}) return std::nullopt;
  return std::min(left, kLongestWait);
}

KeeperNote note_of(KeeperNote::Kind kind, const KeeperPlan& keeper) {
  KeeperNote note;
  note.kind = kind;
  if (const auto due = end_due(keeper)) note.due_boot_us = due->time_since_epoch().count();
  return note;
}

/// Nobody vouches any more. All in the namespace die first: the pipe may be full while the warden stands
/// still.
[[noreturn]] void end_lapsed(const KeeperPlan& keeper, const UniqueFd& throttle) {
  const KeeperNote note = note_of(KeeperNote::Kind::Lapsed, keeper);
  lift(throttle);
  ::kill(-1, SIGKILL);
  tell(keeper, note);
  ::_exit(kExitLapsed);
}

int wait_for_end_of(pid_t main, const KeeperPlan& keeper, const UniqueFd& throttle) {
  sigset_t wanted;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGCHLD);
  sigaddset(&wanted, SIGUSR1);
  for (;;) {
    if (const auto status = reap(main)) return *status;
    const auto left = time_left(keeper);
    if (!left) end_lapsed(keeper, throttle);
    const timespec pause{left->count() / 1'000'000, (left->count() % 1'000'000) * 1000};
    siginfo_t info{};
    const int number = ::sigtimedwait(&wanted, &info, &pause);
    // Only the warden is outside of the namespace: from there the sender's pid is 0. A job that
    // signals its pid 1 is not obeyed.
    if (number == SIGUSR1 && info.si_code == SI_USER && info.si_pid == 0) term_everybody();
  }
}

[[noreturn]] void keep(const ProcessPlan& plan, const KeeperPlan& keeper) {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_NAME, "rota-keeper");
  close_others({plan.stdin_fd, plan.stdout_fd, plan.stderr_fd, plan.extra_fd, plan.cgroup_fd,
                keeper.notes_fd});
  const UniqueFd throttle = throttle_of(plan.cgroup_fd);
  StartedProcess main;
  if (keeper.own_proc && !mount_own_proc()) {
    main.failed_step = StartStep::Session;
    main.error = errno;
    main.detail = std::string("mount of /proc: ") + std::strerror(errno);
  } else {
    offer_to_oom_killer();
    // Nobody of the same user may trace the keeper: stopped forever, it would never tell of the end.
    ::prctl(PR_SET_DUMPABLE, 0);
    main = start_process(plan);
  }
  if (main.failed_step != StartStep::None) {
    tell_not_started(keeper, main);
    ::_exit(0);
  }
  tell(keeper, KeeperNote{});
  // The job's pipes must report their end when the job's processes have ended.
  close_others({keeper.notes_fd, throttle.get()});
  const int wait_status = wait_for_end_of(main.pid, keeper, throttle);
  KeeperNote end = note_of(KeeperNote::Kind::MainEnded, keeper);
  end.wait_status = wait_status;
  lift(throttle);
  tell(keeper, end);
  ::_exit(0);
}

/// True when a child that is cloned with these flags and does `deed` exits with 0.
template <typename Deed>
bool succeeds_in(std::uint64_t flags, Deed deed) {
  int pidfd = -1;
  const pid_t pid = fork_into(flags, &pidfd);
  if (pid < 0) return false;
  if (pid == 0) ::_exit(deed() ? 0 : 1);
  ::close(pidfd);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

StartedProcess start_kept(const ProcessPlan& plan, const KeeperPlan& keeper) {
  StartedProcess out;
  int pidfd = -1;
  const std::uint64_t flags = CLONE_NEWPID | (keeper.own_proc ? CLONE_NEWNS : 0);
  out.pid = fork_into(flags, &pidfd);
  if (out.pid == 0) keep(plan, keeper);
  if (out.pid < 0) {
    out.failed_step = StartStep::Fork;
    out.error = errno;
    out.detail = std::string("clone of a keeper: ") + std::strerror(errno);
    return out;
  }
  out.pidfd.reset(pidfd);
  return out;
}

NamespaceAbility probe_namespaces() {
  NamespaceAbility can;
  can.own_proc = succeeds_in(CLONE_NEWPID | CLONE_NEWNS, mount_own_proc);
  can.pid_namespace = can.own_proc || succeeds_in(CLONE_NEWPID, [] { return true; });
  return can;
}

}  // namespace rota::worker::warden
