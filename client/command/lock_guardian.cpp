#include "client/command/lock_guardian.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "client/command/process_tree.h"
#include "common/base/unique_fd.h"
#include "common/zk/lock_loss.h"
#include "common/zk/named_locks.h"

extern char** environ;

namespace rota::client {
namespace {

constexpr int kCannotRun = 126, kNotFoundThere = 127, kBySignal = 128;  // as a shell does
constexpr Millis kLeftBehind{200};  // for processes that the command left behind to end by themselves

std::string variable(const char* name) {
  const char* const value = ::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// Shown to others that wait for the lock.
std::string owner_name(const LockFront& front) {
  const std::string run = variable("ROTA_RUN_ID");
  if (!run.empty()) return "run " + run + " attempt " + variable("ROTA_ATTEMPT");
  char host[256] = "?";
  ::gethostname(host, sizeof host - 1);
  return fmt::format("process {} on {}", front.pid, host);
}

/// Somebody who ends `rota lock` by its name must hit only the front.
void set_own_name() {
  constexpr std::string_view kName = "lock-guardian";
  ::prctl(PR_SET_NAME, kName.data());
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string words{std::istreambuf_iterator<char>(file), {}};
  char* const begin = program_invocation_name;
  if (words.size() <= kName.size() || words != std::string(begin, words.size())) return;
  std::memset(begin, 0, words.size());
  kName.copy(begin, kName.size());
}

/// What the command is started with. Made before the fork: after it, only system calls are safe.
struct Words {
  std::vector<std::string> command, variables;
  std::vector<char*> argv, environment;
};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

Words words_for(const LockArguments& arguments, std::int64_t token) {
  Words words;
  words.command = arguments.command;
  words.variables = {"ROTA_LOCK_NAME=" + arguments.name, "ROTA_LOCK_TOKEN=" + std::to_string(token)};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("ROTA_LOCK_")) words.variables.emplace_back(*entry);
  }
  words.argv = pointers_to(words.command);
  words.environment = pointers_to(words.variables);
  return words;
}

/// Runs with our original signal mask, in the front's group, and dies with the guardian.
[[noreturn]] void become_command(const Words& words, const LockFront& front, pid_t guardian, int failure) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guardian) ::_exit(kCannotRun);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD, SIGPIPE, SIGTTOU}) ::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::setpgid(0, front.group) == 0 || front.group == 0) {
    ::execvpe(words.argv.front(), words.argv.data(), words.environment.data());
  }
  const int error = errno;
  (void)!::write(failure, &error, sizeof error);
  ::_exit(kCannotRun);
}

/// The errno, or 0.
int spawn(const LockArguments& arguments, std::int64_t token, const LockFront& front, pid_t& child) {
  const Words words = words_for(arguments, token);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return errno;
  UniqueFd out(ends[0]), in(ends[1]);
  const pid_t guardian = ::getpid();
  child = ::fork();
  if (child < 0) return errno;
  if (child == 0) become_command(words, front, guardian, in.get());
  in.reset();
  int error = 0;
  while (::read(out.get(), &error, sizeof error) < 0 && errno == EINTR) {
  }
  if (error != 0) ::waitpid(child, nullptr, 0);
  return error;
}

/// Waits for the command's end. Ends it when somebody else may have the lock, or when the front has died.
class Attendance {
 public:
  Attendance(pid_t child, const LockFront& front, const HeldLock& lock, LockBoard& board)
      : child_(child),
        front_(front),
        lock_(lock),
        board_(board),
        loss_(lock.session_timeout(), BootClock::now()) {}

  /// The command's exit status as a shell reports it. By then no process of the command is alive.
  int attend() {
    while (!status_ && !must_be_gone()) look();
    const MonoTime ended = BootClock::now();
    while (has_children_ && !must_be_gone() && BootClock::now() - ended < kLeftBehind) look();
    const std::size_t left = end_descendants({}, [this] { look_at_lock(); });
    if (!status_) return kBySignal + SIGKILL;
    if (left > 0) note(fmt::format("rota: the command left processes behind, which were ended: {}", left));
    return WIFEXITED(*status_) ? WEXITSTATUS(*status_) : kBySignal + WTERMSIG(*status_);
  }
  bool was_lost() const { return was_lost_; }

 private:
  void look() {
    const int number = await_signal(kLockLook);
    if (number != 0 && number != SIGCHLD && !status_) ::kill(child_, number);
    // Orphans of the command become our children too.
    int status = 0;
    pid_t pid = 0;
    while ((pid = ::waitpid(-1, &status, WNOHANG)) > 0) {
      if (pid == child_) status_ = status;
    }
    has_children_ = pid == 0;
  }

  bool must_be_gone() {
    look_at_lock();
    return ::getppid() != front_.pid || (was_lost_ && loss_.must_be_gone(BootClock::now()));
  }

  void look_at_lock() {
    const MonoTime now = BootClock::now();
    const bool is_held = lock_.is_held();
    loss_.look(is_held, now);
    if (is_held) board_.held_us = now.time_since_epoch().count();
    if (was_lost_ || !loss_.must_stop(now)) return;
    was_lost_ = true;
    if (!status_) ::kill(child_, SIGTERM);
  }

  const pid_t child_;
  const LockFront front_;
  const HeldLock& lock_;
  LockBoard& board_;
  zk::LockLoss loss_;
  std::optional<int> status_;
  bool has_children_ = true;
  bool was_lost_ = false;
};

int run_locked(const LockArguments& arguments, const LockFront& front, const HeldLock& lock,
               LockBoard& board) {
  board.timeout_ms = lock.session_timeout().count();
  board.held_us = BootClock::now().time_since_epoch().count();
  board.runs = true;
  pid_t child = -1;
  if (const int error = spawn(arguments, lock.token(), front, child); error != 0) {
    complain(Error(ErrorCode::InvalidArgument, arguments.command.front() + ": " + std::strerror(error)));
    return error == ENOENT ? kNotFoundThere : kCannotRun;
  }
  Attendance attendance(child, front, lock, board);
  const int status = attendance.attend();
  board.runs = false;
  if (!attendance.was_lost()) return status;
  return complain(Error(ErrorCode::Unavailable, "the lock '" + arguments.name +
                                                    "' was lost, and the command was ended"));
}

}  // namespace

sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&set, number);
  return set;
}

int await_signal(Millis at_most) {
  const sigset_t set = watched_signals();
  const timespec pause{at_most.count() / 1000, (at_most.count() % 1000) * 1'000'000};
  const int number = ::sigtimedwait(&set, nullptr, &pause);
  return number > 0 ? number : 0;
}

int guard_lock(const LockArguments& arguments, const LockPlan& plan, const LockFront& front,
               LockBoard& board) {
  set_own_name();
  ::setpgid(0, 0);  // a signal to the front's group must not reach the guardian
  ::signal(SIGTTOU, SIG_IGN);
  if (!adopt_orphans()) {
    return complain(Error(ErrorCode::Unsupported, std::string("prctl: ") + std::strerror(errno)));
  }
  const auto locks = zk::make_locks({arguments.zookeeper, arguments.cluster, plan.ttl});
  int told = 0;
  const auto wait = [&](Millis pause) {
    const int number = await_signal(pause);
    if (number != 0 && number != SIGCHLD) told = number;
    return told != 0 || ::getppid() != front.pid;
  };
  const auto held = locks->take(arguments.name, owner_name(front), plan.patience, wait);
  if (told != 0) return kBySignal + told;
  return held ? run_locked(arguments, front, **held, board) : complain(held.error());
}

}  // namespace rota::client
