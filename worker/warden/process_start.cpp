#include "worker/warden/process_start.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>

#include "common/base/check.h"
#include "common/base/utf8.h"

namespace rota::worker::warden {

namespace {

constexpr std::size_t kChildStackBytes = 64u << 10;
constexpr std::string_view kJobOomScore = "500";
constexpr std::size_t kLongestShown = 120;  // of a name in a message for people

/// Written by the child when a step fails.
struct Failure {
  StartStep step = StartStep::None;
  int error = 0;
};

/// All that the child needs, in place before the clone: it must not allocate.
struct Prepared {
  const ProcessPlan* plan = nullptr;
  std::vector<char*> argv, environment;
  std::vector<std::string> candidates;  // paths to try for exec, in order
  pid_t parent = -1;
  Failure own_failure;
  Failure* failure = &own_failure;
};

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

std::string_view search_path_of(const std::vector<std::string>& environment) {
  for (const std::string& entry : environment) {
    if (entry.starts_with("PATH=")) return std::string_view(entry).substr(5);
  }
  return "/usr/local/bin:/usr/bin:/bin";
}

/// A name with a slash is used as it is; another is searched in PATH.
std::vector<std::string> candidates_for(const ProcessPlan& plan) {
  const std::string& name = plan.argv.front();
  if (name.empty() || name.find('/') != std::string::npos) return {name};
  std::vector<std::string> out;
  std::string_view path = search_path_of(plan.environment);
  while (true) {
    const std::size_t colon = path.find(':');
    const std::string_view folder = path.substr(0, colon);
    out.push_back(folder.empty() ? name : std::string(folder) + "/" + name);
    if (colon == std::string_view::npos) return out;
    path.remove_prefix(colon + 1);
  }
}

// ---- in the child: system calls only ---------------------------------------------------------

[[noreturn]] void child_fails(Prepared& prepared, StartStep step) {
  *prepared.failure = {step, errno};
  ::_exit(127);
}

void reset_signals() {
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  for (int number = 1; number < NSIG; ++number) ::sigaction(number, &standard, nullptr);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

bool place_descriptors(const ProcessPlan& plan) {
  const int wanted[4] = {plan.stdin_fd, plan.stdout_fd, plan.stderr_fd, plan.extra_fd};
  for (int place = 0; place < 4; ++place) {
    if (wanted[place] >= 0 && ::dup2(wanted[place], place) < 0) return false;
  }
  const unsigned first_unwanted = plan.extra_fd >= 0 ? 4 : 3;
  return ::close_range(first_unwanted, ~0u, 0) == 0;
}

bool set_limits(const ProcessPlan& plan) {
  for (const Limit& limit : plan.limits) {
    const rlimit value{limit.soft, limit.hard};
    if (::setrlimit(static_cast<__rlimit_resource>(limit.resource), &value) != 0) return false;
  }
  return true;
}

bool set_nice(int by) {
  if (by == 0) return true;
  errno = 0;
  return ::nice(by) != -1 || errno == 0;
}

/// Directly to the kernel: the library's own calls signal every thread, and there is only one.
bool become(const User& user) {
  return ::syscall(SYS_setgroups, user.groups.size(), user.groups.data()) == 0 &&
         ::syscall(SYS_setresgid, user.gid, user.gid, user.gid) == 0 &&
         ::syscall(SYS_setresuid, user.uid, user.uid, user.uid) == 0;
}

/// Tries each candidate as execvp does: "permission denied" is remembered while others are tried.
[[noreturn]] void execute(Prepared& prepared) {
  int worst = ENOENT;
  for (const std::string& path : prepared.candidates) {
    ::execve(path.c_str(), prepared.argv.data(), prepared.environment.data());
    if (errno == EACCES) worst = EACCES;
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) child_fails(prepared, StartStep::Exec);
    if (prepared.candidates.size() == 1) worst = errno;
  }
  errno = worst;
  child_fails(prepared, StartStep::Exec);
}

int child_main(void* argument) {
  Prepared& prepared = *static_cast<Prepared*>(argument);
  const ProcessPlan& plan = *prepared.plan;
  if (plan.dies_with_parent) {
    // Asked first and checked after, so that a parent that died in between is noticed.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != prepared.parent) ::_exit(127);
  }
  if (plan.is_job && ::setsid() < 0) child_fails(prepared, StartStep::Session);
  // A terminal's Ctrl-C goes to the warden alone, which passes it on.
  if (!plan.is_job) ::setpgid(0, 0);
  reset_signals();
  if (!place_descriptors(plan)) child_fails(prepared, StartStep::Session);
  if (!set_nice(plan.nice)) child_fails(prepared, StartStep::Nice);
  if (!set_limits(plan)) child_fails(prepared, StartStep::Limits);
  if (plan.is_job) {
    ::umask(plan.umask & 0777);
    offer_to_oom_killer();
    // A job that runs as root could seize its keeper, or without a namespace the warden: they have this
    // right, and a process without it cannot trace one that has it. Only root has it, and only root may
    // drop it.
    ::prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0);
    if (plan.user && !become(*plan.user)) child_fails(prepared, StartStep::User);
    // A change of the user has undone it.
    if (plan.user && plan.dies_with_parent) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) child_fails(prepared, StartStep::Session);
    if (::chdir(plan.folder.c_str()) != 0) child_fails(prepared, StartStep::Folder);
  }
  execute(prepared);
}

// ---- in the parent ----------------------------------------------------------------------------

/// One stack for all children: each is done with it (exec or exit) before clone returns.
char* child_stack_top() {
  static char* const base = static_cast<char*>(
      ::mmap(nullptr, kChildStackBytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0));
  CHECK_OR_DIE(base != MAP_FAILED, "there is memory for a stack");
  return base + kChildStackBytes;
}

std::string explain(const Prepared& prepared) {
  const auto [step, error] = *prepared.failure;
  const std::string why = std::strerror(error);
  const ProcessPlan& plan = *prepared.plan;
  if (step == StartStep::Folder) {
    return "folder " + shown_text(plan.folder, kLongestShown) + ": " + why;
  }
  if (step != StartStep::Exec) return std::string(name_of(step)) + ": " + why;
  const std::string& name = plan.argv.front();
  const std::string shown = shown_text(name, kLongestShown);
  if (error == ENOENT && name.find('/') != std::string::npos &&
      ::access(name.c_str(), F_OK) == 0) {
    return shown + ": its interpreter was not found";
  }
  return shown + ": " + why;
}

/// Only fork has a way into a cgroup from the first moment on: this child has its own memory, except for what
/// it says of a failure.
class SharedFailure {
 public:
  SharedFailure()
      : page_(::mmap(nullptr, sizeof(Failure), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    CHECK_OR_DIE(page_ != MAP_FAILED, "there is memory for a page");
  }
  ~SharedFailure() { ::munmap(page_, sizeof(Failure)); }
  SharedFailure(const SharedFailure&) = delete;
  SharedFailure& operator=(const SharedFailure&) = delete;
  Failure* get() { return new (page_) Failure; }

 private:
  void* const page_;
};

constexpr int ipc_flag(const ProcessPlan& plan) { return plan.own_ipc ? CLONE_NEWIPC : 0; }

pid_t fork_into_cgroup(Prepared& prepared, int* pidfd) {
  SharedFailure shared;
  prepared.failure = shared.get();
  clone_args arguments{};
  arguments.flags = CLONE_VFORK | CLONE_PIDFD | CLONE_INTO_CGROUP |
                    static_cast<std::uint64_t>(ipc_flag(*prepared.plan));
  arguments.pidfd = reinterpret_cast<std::uint64_t>(pidfd);
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<std::uint64_t>(prepared.plan->cgroup_fd);
  const auto pid = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
  if (pid == 0) ::_exit(child_main(&prepared));
  const int error = errno;
  prepared.own_failure = *prepared.failure;
  prepared.failure = &prepared.own_failure;
  errno = error;
  return pid;
}

pid_t clone_child(Prepared& prepared, int* pidfd) {
  if (prepared.plan->cgroup_fd >= 0) return fork_into_cgroup(prepared, pidfd);
  const int flags = CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD | ipc_flag(*prepared.plan);
  return ::clone(child_main, child_stack_top(), flags, &prepared, pidfd);
}

}  // namespace

StartedProcess start_process(const ProcessPlan& plan) {
  CHECK_OR_DIE(!plan.argv.empty(), "a command has at least its name");
  Prepared prepared;
  prepared.plan = &plan;
  prepared.argv = pointers_to(plan.argv);
  prepared.environment = pointers_to(plan.environment);
  prepared.candidates = candidates_for(plan);
  prepared.parent = ::getpid();
  StartedProcess out;
  int pidfd = -1;
  out.pid = clone_child(prepared, &pidfd);
  if (out.pid < 0) {
    out.failed_step = StartStep::Fork;
    out.error = errno;
    out.detail = std::string("clone: ") + std::strerror(errno);
    return out;
  }
  out.pidfd.reset(pidfd);
  if (prepared.failure->step == StartStep::None) return out;
  ::waitpid(out.pid, nullptr, 0);
  out.pid = -1;
  out.pidfd.reset();
  out.failed_step = prepared.failure->step;
  out.error = prepared.failure->error;
  out.detail = explain(prepared);
  return out;
}

void offer_to_oom_killer() {
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  (void)!::write(file, kJobOomScore.data(), kJobOomScore.size());
  ::close(file);
}

void occupy_low_descriptors() {
  for (;;) {
    const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    CHECK_OR_DIE(fd >= 0, "/dev/null can be opened");
    if (fd <= 3) continue;
    ::close(fd);
    return;
  }
}

}  // namespace rota::worker::warden
