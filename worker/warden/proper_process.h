// The worker proper as the warden's child: started with one end of a socket pair, started again when
// it dies, and gone with the warden.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/base/unique_fd.h"
#include "worker/warden/wire.h"

namespace rota::worker::warden {

/// Owner: Warden. Thread: the warden's one.
class ProperProcess {
 public:
  struct Setup {
    std::vector<std::string> argv;
    std::string mark;         ///< for the sweep
    int old_proc_fd = -1;     ///< the host's /proc, where the proper's pid is looked up; -1: our own
  };
  explicit ProperProcess(Setup setup) : setup_(std::move(setup)) {}

  /// What is set before exec, to put back what the warden raised for itself.
  void set_limits(std::vector<Limit> limits) { limits_ = std::move(limits); }
  /// Starts the next life now. False: exec failed, and the reason is on stderr.
  bool start();
  /// Its end was reaped. Returns the exit status with which the warden is to end, if it is to;
  /// otherwise the next life is due at `restart_at()`. `is_idle`: no attempt is held.
  std::optional<int> on_reaped(int wait_status, bool is_idle);

  bool is_alive() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  int socket() const { return socket_.get(); }
  MonoTime started() const { return started_; }
  std::uint32_t life() const { return life_; }
  std::int32_t outer_pid() const { return outer_pid_; }
  std::optional<MonoTime> restart_at() const { return restart_at_; }
  void forget_restart() { restart_at_.reset(); }
  /// The other side closed the socket; the process is about to end, or is broken.
  void drop_socket() { socket_.reset(); }
  /// Through the pidfd. Harmless when it is not alive.
  void signal(int number) const;
  /// SIGKILL because no voucher is left; not counted as a quick death.
  void kill_for_voucher();

 private:
  Setup setup_;
  std::vector<Limit> limits_;
  pid_t pid_ = -1;
  UniqueFd pidfd_, socket_;
  std::uint32_t life_ = 0;
  std::int32_t outer_pid_ = 0;
  MonoTime started_{};
  std::optional<MonoTime> restart_at_;
  int quick_deaths_ = 0;
  bool was_killed_by_us_ = false;
};

}  // namespace rota::worker::warden
