#include "worker/warden/keeper.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "common/base/time.h"
#include "worker/warden/keeper_order.h"

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

/// Kept open, so that no later descriptor lands where a job's descriptor 3 is put.
constexpr int kExtraPlace = 3;

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
std::optional<int> reap(pid_t main, std::int64_t& peak_bytes) {
  std::optional<int> main_status;
  int status = 0;
  ::rusage used{};
  for (pid_t pid = 0; (pid = ::wait4(-1, &status, WNOHANG, &used)) > 0;) {
    if (pid == main) main_status = status;
    peak_bytes = std::max(peak_bytes, std::int64_t{used.ru_maxrss} * 1024);
  }
  return main_status;
}

/// As wait4 will tell it of this keeper.
KeeperTotals used_so_far() {
  KeeperTotals sum;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    ::rusage used{};
    ::getrusage(who, &used);
    const KeeperTotals part = totals_of(used);
    sum.cpu_us += part.cpu_us;
    sum.read_bytes += part.read_bytes;
    sum.written_bytes += part.written_bytes;
  }
  return sum;
}

/// The kernel knows of nobody else in the namespace, or below it; a process that has ended and was not waited
/// for counts as well.
bool is_alone() { return ::kill(-1, 0) != 0 && errno == ESRCH; }

/// Whether anything was mounted or unmounted here.
class MountWatch {
 public:
  explicit MountWatch(bool is_wanted)
      : table_(is_wanted ? ::open("/proc/self/mounts", O_RDONLY | O_CLOEXEC) : -1) {
    (void)has_changed();
  }
  int fd() const { return table_.get(); }
  /// Since the last call; also when it cannot be known.
  bool has_changed() const {
    pollfd item{table_.get(), POLLPRI, 0};
    return !table_.is_open() || ::poll(&item, 1, 0) != 0;
  }

 private:
  const UniqueFd table_;
};

/// What is there from the keeper's start to its end.
struct Equipment {
  UniqueFd throttle;
  MountWatch mounts;
};

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

/// Only the warden is outside of the namespace: from there the sender's pid is 0. A job that signals its
/// pid 1 is not obeyed.
bool asks_for_term(int number, const siginfo_t& info, const KeeperPlan& keeper) {
  if (info.si_pid != 0) return false;
  if (keeper.orders_fd < 0) return number == SIGUSR1 && info.si_code == SI_USER;
  return number == SIGRTMIN && info.si_code == SI_QUEUE &&
         reinterpret_cast<std::uintptr_t>(info.si_value.sival_ptr) == keeper.serial;
}

int wait_for_end_of(pid_t main, const KeeperPlan& keeper, const UniqueFd& throttle,
                    std::int64_t& peak_bytes) {
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : {SIGCHLD, SIGUSR1, SIGRTMIN}) sigaddset(&wanted, number);
  for (;;) {
    if (const auto status = reap(main, peak_bytes)) return *status;
    const auto left = time_left(keeper);
    if (!left) end_lapsed(keeper, throttle);
    const timespec pause{left->count() / 1'000'000, (left->count() % 1'000'000) * 1000};
    siginfo_t info{};
    const int number = ::sigtimedwait(&wanted, &info, &pause);
    if (number > 0 && asks_for_term(number, info, keeper)) term_everybody();
  }
}

/// One attempt, to the end of its main process. Returns when the set is proven empty and the keeper may serve
/// again; else the keeper ends, and the kernel ends who is left.
void serve(const ProcessPlan& plan, const KeeperPlan& keeper, const Equipment& own) {
  StartedProcess main = start_process(plan);
  if (main.failed_step != StartStep::None) {
    tell_not_started(keeper, main);
    ::_exit(0);
  }
  tell(keeper, KeeperNote{});
  main.pidfd.reset();
  // The job's pipes must report their end when the job's processes have ended.
  close_others({kExtraPlace, keeper.notes_fd, keeper.orders_fd, own.throttle.get(), own.mounts.fd()});
  std::int64_t peak_bytes = 0;
  const int wait_status = wait_for_end_of(main.pid, keeper, own.throttle, peak_bytes);
  const bool may_go_on = keeper.orders_fd >= 0 && is_alone() && !own.mounts.has_changed();
  KeeperNote end = note_of(may_go_on ? KeeperNote::Kind::Emptied : KeeperNote::Kind::MainEnded, keeper);
  end.wait_status = wait_status;
  end.used = used_so_far();
  end.peak_memory_bytes = peak_bytes;
  lift(own.throttle);
  tell(keeper, end);
  if (!may_go_on) ::_exit(0);
}

void serve_on(KeeperPlan keeper, const Equipment& own) {
  while (auto order = await_order(keeper.orders_fd)) {
    keeper.serial = order->serial;
    keeper.disconnect_grace = order->disconnect_grace;
    // serve() closes them all.
    for (UniqueFd& descriptor : order->descriptors) (void)descriptor.release();
    serve(order->plan, keeper, own);
  }
}

[[noreturn]] void keep(const ProcessPlan& plan, const KeeperPlan& keeper) {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::prctl(PR_SET_NAME, "rota-keeper");
  close_others({kExtraPlace, plan.stdin_fd, plan.stdout_fd, plan.stderr_fd, plan.extra_fd, plan.cgroup_fd,
                keeper.notes_fd, keeper.orders_fd});
  if (keeper.own_proc && !mount_own_proc()) {
    StartedProcess main;
    main.failed_step = StartStep::Session;
    main.error = errno;
    main.detail = std::string("mount of /proc: ") + std::strerror(errno);
    tell_not_started(keeper, main);
    ::_exit(0);
  }
  const Equipment own{throttle_of(plan.cgroup_fd), MountWatch(keeper.orders_fd >= 0)};
  offer_to_oom_killer();
  // Nobody of the same user may trace the keeper: stopped forever, it would never tell of the end.
  ::prctl(PR_SET_DUMPABLE, 0);
  serve(plan, keeper, own);
  serve_on(keeper, own);
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

/// Whoever becomes an ordinary user has no capability then, and finds none in what he executes.
bool others_have_no_rights() {
  if (::prctl(PR_GET_SECUREBITS) != 0) return false;
  for (int capability = 0; capability <= CAP_LAST_CAP; ++capability) {
    if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) == 1) return false;
  }
  return true;
}

}  // namespace

KeeperTotals totals_of(const ::rusage& used) {
  constexpr std::int64_t kBlockBytes = 512;
  const auto us = [](const timeval& t) { return t.tv_sec * std::int64_t{1'000'000} + t.tv_usec; };
  return {us(used.ru_utime) + us(used.ru_stime), used.ru_inblock * kBlockBytes,
          used.ru_oublock * kBlockBytes};
}

void ask_for_term(int keeper_pidfd, std::uint64_t serial, bool may_serve_again) {
  if (!may_serve_again) {
    ::syscall(SYS_pidfd_send_signal, keeper_pidfd, SIGUSR1, nullptr, 0);
    return;
  }
  siginfo_t info{};
  info.si_signo = SIGRTMIN;
  info.si_code = SI_QUEUE;
  info.si_value.sival_ptr = reinterpret_cast<void*>(static_cast<std::uintptr_t>(serial));
  ::syscall(SYS_pidfd_send_signal, keeper_pidfd, SIGRTMIN, &info, 0);
}

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
  can.serve_again = can.own_proc && others_have_no_rights() && succeeds_in(CLONE_NEWIPC, [] { return true; });
  return can;
}

}  // namespace rota::worker::warden
