// `rota lock`: runs a command while it holds a named lock, one of the same locks that handlers use. This
// file is the front, which the user sees; see lock_guardian.h for the rest.
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <new>
#include <vector>

#include "client/command/commands.h"
#include "client/command/lock_guardian.h"
#include "client/command/process_tree.h"
#include "common/base/duration_text.h"

namespace rota::client {
namespace {

constexpr Millis kForever{std::int64_t{1} << 40};

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
  if (arguments.wait) plan.patience = kForever;
  if (arguments.wait_at_most.empty()) return plan;
  const auto patience = read("--wait-at-most", arguments.wait_at_most);
  if (!patience) return fail(patience.error());
  plan.patience = *patience;
  return plan;
}

/// Never unmapped: the guardian may outlive us.
LockBoard* shared_board() {
  void* const page =
      ::mmap(nullptr, sizeof(LockBoard), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return page == MAP_FAILED ? nullptr : new (page) LockBoard;
}

/// Waits for the guardian's end. Ends the command when the guardian cannot do so.
class Front {
 public:
  Front(pid_t guardian, const LockArguments& arguments, LockBoard& board, std::vector<pid_t> spared)
      : guardian_(guardian), arguments_(arguments), board_(board), spared_(std::move(spared)) {}

  int attend() {
    int status = 0;
    while (::waitpid(guardian_, &status, WNOHANG) != guardian_) {
      const int number = await_signal(kLockLook);
      if (number != 0 && number != SIGCHLD) ::kill(guardian_, number);
      if (stands_still()) return end_all("its guardian stood still");
    }
    if (WIFEXITED(status)) return WEXITSTATUS(status);
    return end_all(fmt::format("its guardian was ended by signal {}", WTERMSIG(status)));
  }

 private:
  /// The session lives at least two thirds of its timeout after the guardian last saw that it holds the lock.
  bool stands_still() const {
    if (!board_.runs) return false;
    const MonoTime held{Micros{board_.held_us.load()}};
    return BootClock::now() - held > Millis{board_.timeout_ms.load()} / 3;
  }

  int end_all(const std::string& why) {
    end_descendants(spared_, [] {});
    const std::string what = "the lock '" + arguments_.name + "' was lost, and the command was ended: ";
    return complain(Error(ErrorCode::Unavailable, what + why));
  }

  const pid_t guardian_;
  const LockArguments& arguments_;
  const LockBoard& board_;
  const std::vector<pid_t> spared_;  ///< children of who became `rota lock` by exec
};

}  // namespace

int lock(const LockArguments& arguments) {
  if (arguments.zookeeper.empty() || arguments.command.empty()) {
    return complain(Error(ErrorCode::InvalidArgument,
                          "rota lock needs a command after --, and --zookeeper or ROTA_ZOOKEEPER, where "
                          "the locks are kept"));
  }
  const auto plan = plan_of(arguments);
  if (!plan) return complain(plan.error());
  const sigset_t set = watched_signals();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  LockBoard* const board = shared_board();
  const LockFront front{::getpid(), ::getpgrp()};
  std::vector<pid_t> spared = children_now();
  const pid_t guardian = board != nullptr && adopt_orphans() ? ::fork() : -1;
  if (guardian < 0) {
    return complain(
        Error(ErrorCode::Unavailable, std::string("starting its guardian: ") + std::strerror(errno)));
  }
  if (guardian == 0) {
    const int status = guard_lock(arguments, *plan, front, *board);
    std::fflush(nullptr);
    ::_exit(status);
  }
  return Front(guardian, arguments, *board, std::move(spared)).attend();
}

}  // namespace rota::client
