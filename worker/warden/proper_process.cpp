#include "worker/warden/proper_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "worker/warden/complain.h"
#include "worker/warden/packet.h"
#include "worker/warden/process_scan.h"
#include "worker/warden/process_start.h"
#include "worker/warden/restart_rules.h"
#include "worker/warden/warden_client.h"
#include "worker/warden/warden_options.h"

namespace rota::worker::warden {

namespace {

std::vector<std::string> environment_with(const std::string& mark) {
  std::vector<std::string> out;
  const std::string mark_start = std::string(kMarkVariable) + "=";
  const std::string socket_start = std::string(kSocketVariable) + "=";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with(mark_start) && !text.starts_with(socket_start)) out.emplace_back(text);
  }
  if (!mark.empty()) out.push_back(mark_start + mark);
  out.push_back(socket_start + "3");
  return out;
}

/// The pid behind a pidfd as the given /proc counts: "Pid:" of its fdinfo.
std::int32_t pid_seen_from(int proc_fd, int pidfd) {
  const std::string path = "self/fdinfo/" + std::to_string(pidfd);
  const UniqueFd file(::openat(proc_fd, path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return 0;
  char text[512] = {};
  if (::read(file.get(), text, sizeof text - 1) <= 0) return 0;
  const std::string_view view(text);
  const std::size_t at = view.find("\nPid:");
  return at == std::string_view::npos ? 0 : std::atoi(text + at + 5);
}

}  // namespace

bool ProperProcess::start() {
  restart_at_.reset();
  auto pair = packet_pair();
  if (!pair) return complain("cannot make a socket pair", pair.error().message), false;
  ProcessPlan plan;
  plan.argv = setup_.argv;
  plan.environment = environment_with(setup_.mark);
  plan.limits = limits_;
  plan.extra_fd = pair->second.get();
  plan.is_job = false;
  plan.dies_with_parent = true;
  StartedProcess child = start_process(plan);
  if (child.failed_step != StartStep::None) {
    return complain("cannot start the worker", child.detail), false;
  }
  pid_ = child.pid;
  pidfd_ = std::move(child.pidfd);
  socket_ = std::move(pair->first);
  outer_pid_ = setup_.old_proc_fd >= 0 ? pid_seen_from(setup_.old_proc_fd, pidfd_.get()) : pid_;
  started_ = BootClock::now();
  was_killed_by_us_ = false;
  ++life_;
  return true;
}

std::optional<int> ProperProcess::on_reaped(int wait_status, bool is_idle) {
  pid_ = -1;
  pidfd_.reset();
  socket_.reset();
  if (WIFEXITED(wait_status) && is_deliberate(WEXITSTATUS(wait_status))) {
    return WEXITSTATUS(wait_status);
  }
  const MonoTime now = BootClock::now();
  const bool was_quick = now - started_ < kQuickLife && !was_killed_by_us_;
  quick_deaths_ = was_quick ? quick_deaths_ + 1 : 0;
  if (quick_deaths_ >= kMostQuickDeaths && is_idle) {
    complain("the worker dies at every start", "giving up");
    return kExitKilled;
  }
  restart_at_ = now + restart_delay(quick_deaths_, is_idle);
  return std::nullopt;
}

void ProperProcess::signal(int number) const {
  if (pidfd_.is_open()) ::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0);
}

void ProperProcess::kill_for_voucher() {
  was_killed_by_us_ = true;
  signal(SIGKILL);
}

}  // namespace rota::worker::warden
