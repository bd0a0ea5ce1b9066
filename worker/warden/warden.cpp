#include "worker/warden/warden.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>

#include "common/base/check.h"
#include "common/base/random.h"
#include "worker/warden/complain.h"
#include "worker/warden/restart_rules.h"

namespace rota::worker::warden {

namespace {

constexpr MonoTime kNever = MonoTime::max();
/// A proper that has said nothing for so long after its start gets the TERM that was held back for it.
constexpr Millis kReadyPatience{3000};
constexpr rlim_t kDescriptorsPerAttempt = 5;
constexpr rlim_t kDescriptorsOfOurOwn = 64;
constexpr rlim_t kDescriptorsOfKeeper = 2;
constexpr rlim_t kManyDescriptors = 8192;

void earlier(MonoTime& soonest, const std::optional<MonoTime>& time) {
  if (time) soonest = std::min(soonest, *time);
}

ProperProcess::Setup proper_setup(const Warden::Setup& setup, const std::string& token) {
  ProperProcess::Setup out;
  out.argv = setup.options.proper;
  out.mark = token + ".proper";
  out.old_proc_fd = setup.old_proc.get();
  return out;
}

}  // namespace

Warden::Warden(Setup setup)
    : setup_(std::move(setup)),
      token_(state_token(setup_.options.state_dir)),
      start_(random_hex(8)),
      proper_(proper_setup(setup_, token_)) {}

bool Warden::prepare() {
  sigset_t all;
  sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  sigset_t wanted;
  sigemptyset(&wanted);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2}) {
    sigaddset(&wanted, number);
  }
  signals_.reset(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  timer_.reset(::timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK));
  null_.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  int notes[2] = {-1, -1};
  if (::pipe2(notes, O_CLOEXEC) != 0) return false;
  notes_read_.reset(notes[0]);
  notes_write_.reset(notes[1]);
  ::fcntl(notes_read_.get(), F_SETFL, O_NONBLOCK);
  raise_descriptor_limit();
  return signals_.is_open() && timer_.is_open() && null_.is_open() && share_voucher();
}

/// One page that every keeper inherits and reads.
bool Warden::share_voucher() {
  void* const page = ::mmap(nullptr, sizeof *shared_vouched_until_, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  shared_vouched_until_ = new (page) std::atomic<std::int64_t>(0);
  return true;
}

/// An attempt costs three to five descriptors here. Children get the old limit back.
void Warden::raise_descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  restored_limits_ = {{RLIMIT_NOFILE, limit.rlim_cur, limit.rlim_max}};
  proper_.set_limits(restored_limits_);
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) ::getrlimit(RLIMIT_NOFILE, &limit);
  const std::size_t most_resting = limit.rlim_cur >= kManyDescriptors
                                       ? RestingKeepers::kMost
                                       : RestingKeepers::kMostOfFewDescriptors;
  resting_.set_most(most_resting);
  const rlim_t kept_back = kDescriptorsOfOurOwn + kDescriptorsOfKeeper * most_resting;
  const rlim_t usable = limit.rlim_cur > kept_back + kDescriptorsPerAttempt ? limit.rlim_cur - kept_back
                                                                            : kDescriptorsPerAttempt;
  room_ = std::min(static_cast<std::size_t>(setup_.options.max_attempts),
                   static_cast<std::size_t>(usable / kDescriptorsPerAttempt));
}

int Warden::run() {
  if (!prepare()) return complain("cannot start", std::strerror(errno)), kExitKilled;
  if (!proper_.start()) return kExitUsage;
  welcome();
  while (!(exit_status_ && (is_idle() || BootClock::now() >= *leave_at_))) {
    wait_for_work();
    act_on_time();
    read_signals();
    reap_children();
    keep_proper_alive();
    read_requests();
    scan_sets();
    tell_all();
    end_unheard_keepers();
  }
  return *exit_status_;
}

void Warden::wait_for_work() {
  arm_timer(next_deadline());
  const bool may_read = proper_.socket() >= 0 && refusals_.size() < 64;
  const short socket_events = static_cast<short>((may_read ? POLLIN : 0) | (is_blocked_ ? POLLOUT : 0));
  std::array<pollfd, 5> items{{{signals_.get(), POLLIN, 0},
                               {timer_.get(), POLLIN, 0},
                               {notes_read_.get(), POLLIN, 0},
                               {setup_.outer_alive.get(), 0, 0},
                               {proper_.socket(), socket_events, 0}}};
  if (::poll(items.data(), items.size(), -1) < 0) return;
  // The outer warden is gone, so everything must end. As pid 1 our exit ends the whole namespace.
  if (items[3].revents & (POLLHUP | POLLERR)) ::_exit(kExitKilled);
  if (items[1].revents & POLLIN) {
    std::uint64_t ticks = 0;
    if (::read(timer_.get(), &ticks, sizeof ticks) > 0) armed_ = MonoTime{};
  }
  if (items[4].revents & POLLOUT) is_blocked_ = false;
  if ((items[4].revents & POLLHUP) && !(items[4].revents & POLLIN)) proper_.drop_socket();
}

/// A timerfd on CLOCK_BOOTTIME and not poll's timeout: after a suspended host wakes, a voucher that
/// lapsed meanwhile is acted upon at once.
void Warden::arm_timer(MonoTime at) {
  if (at == armed_) return;
  armed_ = at;
  itimerspec spec{};
  if (at != kNever) {
    const auto us = std::max<std::int64_t>(at.time_since_epoch().count(), 1);
    spec.it_value.tv_sec = us / 1'000'000;
    spec.it_value.tv_nsec = (us % 1'000'000) * 1000;
  }
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

MonoTime Warden::next_deadline() const {
  MonoTime soonest = kNever;
  earlier(soonest, proper_.restart_at());
  earlier(soonest, next_scan_);
  earlier(soonest, leave_at_);
  earlier(soonest, resting_.next_end());
  if (pending_terms_ > 0) earlier(soonest, proper_.started() + kReadyPatience);
  if (vouched_until_ && life_has_vouched_) earlier(soonest, *vouched_until_ + Micros{1});
  for (const auto& [key, attempt] : attempts_) {
    if (attempt.phase == Phase::Ended) continue;
    earlier(soonest, attempt.term_at);
    earlier(soonest, attempt.kill_at);
    earlier(soonest, attempt.give_up_at);
    if (vouched_until_ && !attempt.end.kill_sent) {
      earlier(soonest, *vouched_until_ + attempt.disconnect_grace + Micros{1});
    }
  }
  return soonest;
}

void Warden::read_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (info.ssi_signo != SIGCHLD) pass_on(static_cast<int>(info.ssi_signo));
  }
}

void Warden::pass_on(int signal) {
  const bool is_stop = signal == SIGTERM || signal == SIGINT;
  if (is_stop) {
    stop_asked_ = true;
    pending_stop_ = signal;  // also for the next life, should this one die before it has stopped
  }
  // A proper that has not set up its handlers yet would die of it.
  if (is_stop && !life_has_spoken_) {
    ++pending_terms_;
    return;
  }
  if (!is_stop && !life_has_spoken_) return;
  proper_.signal(signal);
}

void Warden::pass_pending_stops() {
  for (; pending_terms_ > 0; --pending_terms_) proper_.signal(pending_stop_);
}

void Warden::keep_proper_alive() {
  const MonoTime now = BootClock::now();
  if (pending_terms_ > 0 && proper_.is_alive() && now >= proper_.started() + kReadyPatience) {
    pass_pending_stops();
  }
  if (exit_status_ || !proper_.restart_at() || now < *proper_.restart_at()) return;
  if (!proper_.start()) {
    exit_status_ = kExitUsage;
    kill_everything();
    return;
  }
  welcome();
}

void Warden::reap_children() {
  read_notes();  // a keeper's last note is always there before its end can be seen
  for (;;) {
    int status = 0;
    ::rusage used{};
    const pid_t pid = ::wait4(-1, &status, WNOHANG, &used);
    if (pid <= 0) return;
    if (pid == proper_.pid()) {
      if (!WIFEXITED(status) || !is_deliberate(WEXITSTATUS(status))) read_last_requests();
      on_proper_ended(status);
      continue;
    }
    const auto key = keys_by_pid_.find(pid);
    if (key == keys_by_pid_.end()) continue;  // an orphan of some attempt
    Attempt& attempt = attempts_.at(key->second);
    keys_by_pid_.erase(key);
    read_notes();
    on_child_ended(attempt, status, used);
  }
}

void Warden::on_proper_ended(int wait_status) {
  if (exit_status_) return;
  const bool obeyed = stop_asked_ && WIFSIGNALED(wait_status) &&
                      (WTERMSIG(wait_status) == SIGTERM || WTERMSIG(wait_status) == SIGINT);
  exit_status_ = proper_.on_reaped(wait_status, is_idle());
  if (obeyed) exit_status_ = 128 + WTERMSIG(wait_status);
  life_has_vouched_ = life_has_spoken_ = false;
  to_tell_.clear();
  for (auto& [key, attempt] : attempts_) attempt.is_queued = false;
  refusals_.clear();
  list_end_.reset();
  pong_.reset();
  is_blocked_ = false;
  if (stop_asked_ && pending_terms_ == 0) pending_terms_ = 1;
  if (exit_status_) kill_everything();
}

void Warden::kill_everything() {
  proper_.forget_restart();
  resting_.clear();
  leave_at_ = BootClock::now() + Millis{5000};
  // As pid 1 of a namespace our own exit kills all, and nobody outside sees that exit before.
  if (setup_.means == Means::PidNamespace) leave_at_ = MonoTime{};
  for (auto& [key, attempt] : attempts_) {
    attempt.is_forgotten = true;
    if (attempt.phase != Phase::Ended) begin_death(attempt, KilledBy::Stop, Millis{0});
  }
  std::erase_if(attempts_, [](const auto& item) { return item.second.phase == Phase::Ended; });
}

}  // namespace rota::worker::warden
