// `rota lock`: a command that runs while it holds a named lock, the same locks that handlers take.
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "client/command/commands.h"
#include "common/base/duration_text.h"
#include "common/zk/lock_loss.h"
#include "common/zk/named_locks.h"

extern char** environ;

namespace rota::client {
namespace {

constexpr Millis kLook{50};              // at the lock, while the command runs
constexpr int kCannotRun = 126, kNotFoundThere = 127, kBySignal = 128;  // as a shell says it
constexpr Millis kForEver{std::int64_t{1} << 40};

/// Those that end us, and the command's end: taken one by one, in this thread alone.
sigset_t watched_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&set, number);
  return set;
}

/// The next of them, or 0 after so long.
int await_signal(Millis at_most) {
  const sigset_t set = watched_signals();
  const timespec pause{at_most.count() / 1000, (at_most.count() % 1000) * 1'000'000};
  const int number = ::sigtimedwait(&set, nullptr, &pause);
  return number > 0 ? number : 0;
}

std::string variable(const char* name) {
  const char* const value = ::getenv(name);
  return value == nullptr ? std::string() : value;
}

/// Shown to those who wait.
std::string owner_name() {
  const std::string run = variable("ROTA_RUN_ID");
  if (!run.empty()) return "run " + run + " attempt " + variable("ROTA_ATTEMPT");
  char host[256] = "?";
  ::gethostname(host, sizeof host - 1);
  return fmt::format("process {} on {}", ::getpid(), host);
}

struct LockPlan {
  Millis patience{0};
  Millis ttl{0};
};

Result<LockPlan> plan_of(const LockArguments& arguments) {
  const auto read = [](const char* option, const std::string& text) -> Result<Millis> {
    auto value = parse_duration(text);
    if (value && value->count() > 0) return *value;
    return fail(ErrorCode::InvalidArgument, fmt::format("{} takes a duration such as 30s", option));
  };
  LockPlan plan;
  const auto ttl = read("--ttl", arguments.ttl);
  if (!ttl) return fail(ttl.error());
  plan.ttl = *ttl;
  if (arguments.wait) plan.patience = kForEver;
  if (arguments.wait_at_most.empty()) return plan;
  const auto patience = read("--wait-at-most", arguments.wait_at_most);
  if (!patience) return fail(patience.error());
  plan.patience = *patience;
  return plan;
}

/// With our signals as they were before we took them. The errno, or 0.
int spawn(const LockArguments& arguments, std::int64_t token, pid_t& child) {
  std::vector<std::string> words{"ROTA_LOCK_NAME=" + arguments.name,
                                 "ROTA_LOCK_TOKEN=" + std::to_string(token)};
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("ROTA_LOCK_")) words.emplace_back(*entry);
  }
  std::vector<std::string> command = arguments.command;
  std::vector<char*> argv, variables;
  for (std::string& word : command) argv.push_back(word.data());
  for (std::string& word : words) variables.push_back(word.data());
  argv.push_back(nullptr);
  variables.push_back(nullptr);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none, standard = watched_signals();
  sigemptyset(&none);
  sigaddset(&standard, SIGPIPE);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setsigdefault(&attributes, &standard);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int error = ::posix_spawnp(&child, argv.front(), nullptr, &attributes, argv.data(), variables.data());
  ::posix_spawnattr_destroy(&attributes);
  return error;
}

/// Waits for the command's end; ends it when the lock may have gone to somebody else.
class Attendance {
 public:
  Attendance(pid_t child, const HeldLock& lock)
      : child_(child), lock_(lock), loss_(lock.session_timeout(), BootClock::now()) {}

  /// The command's exit status as a shell tells it.
  int attend() {
    int status = 0;
    while (::waitpid(child_, &status, WNOHANG) != child_) {
      const int number = await_signal(kLook);
      if (number != 0 && number != SIGCHLD) ::kill(child_, number);
      look_at_lock();
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
  }
  bool was_lost() const { return was_lost_; }

 private:
  void look_at_lock() {
    const MonoTime now = BootClock::now();
    loss_.look(lock_.is_held(), now);
    if (!was_lost_ && loss_.must_stop(now)) {
      was_lost_ = true;
      ::kill(child_, SIGTERM);
    }
    if (was_lost_ && loss_.must_be_gone(now)) ::kill(child_, SIGKILL);
  }

  const pid_t child_;
  const HeldLock& lock_;
  zk::LockLoss loss_;
  bool was_lost_ = false;
};

int run_locked(const LockArguments& arguments, const HeldLock& lock) {
  pid_t child = -1;
  if (const int error = spawn(arguments, lock.token(), child); error != 0) {
    complain(Error(ErrorCode::InvalidArgument, arguments.command.front() + ": " + std::strerror(error)));
    return error == ENOENT ? kNotFoundThere : kCannotRun;
  }
  Attendance attendance(child, lock);
  const int status = attendance.attend();
  if (!attendance.was_lost()) return status;
  return complain(Error(ErrorCode::Unavailable, "the lock '" + arguments.name +
                                                    "' was lost, and the command was ended"));
}

}  // namespace

int lock(const LockArguments& arguments) {
  if (arguments.zookeeper.empty() || arguments.command.empty()) {
    return complain(Error(ErrorCode::InvalidArgument,
                          "rota lock takes a command after --, and --zookeeper or ROTA_ZOOKEEPER, where "
                          "the locks are kept"));
  }
  const auto plan = plan_of(arguments);
  if (!plan) return complain(plan.error());
  const sigset_t set = watched_signals();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);  // before the session's threads begin
  const auto locks = zk::make_locks({arguments.zookeeper, arguments.cluster, plan->ttl});
  int told = 0;
  const auto wait = [&told](Millis pause) {
    const int number = await_signal(pause);
    if (number != 0 && number != SIGCHLD) told = number;
    return told != 0;
  };
  const auto held = locks->take(arguments.name, owner_name(), plan->patience, wait);
  if (told != 0) return kBySignal + told;
  return held ? run_locked(arguments, **held) : complain(held.error());
}

}  // namespace rota::client
