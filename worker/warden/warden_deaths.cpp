// Deadlines, kills and ends.
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "worker/warden/complain.h"
#include "worker/warden/warden.h"

namespace rota::worker::warden {

namespace {

/// After SIGKILL a set is empty within milliseconds, except for processes in uninterruptible sleep.
constexpr Millis kProofPatience{5000};
/// What should have ended an attempt and is later than this stood still; less is a busy machine.
constexpr Millis kStoodStill{100};
constexpr Millis kScanSoon{5}, kScanLater{50}, kScanUnproven{500}, kScanWhileRunning{1000};
constexpr Millis kScanSoonFor{200};

Millis scan_pause(const Attempt& attempt, MonoTime now) {
  if (attempt.phase == Phase::Running && !attempt.end.kill_sent) return kScanWhileRunning;
  if (attempt.unproven_told) return kScanUnproven;
  return now - attempt.end.ended < kScanSoonFor ? kScanSoon : kScanLater;
}

/// Whether the process has ended, though nobody has waited for it yet.
bool has_ended(const UniqueFd& pidfd) {
  siginfo_t info{};
  const int done = ::waitid(P_PIDFD, static_cast<id_t>(pidfd.get()), &info, WEXITED | WNOHANG | WNOWAIT);
  return done != 0 || info.si_pid != 0;
}

void set_used(Attempt& attempt, const KeeperTotals& total) {
  const KeeperTotals before = attempt.server ? attempt.server->used_before : KeeperTotals{};
  attempt.end.cpu_us = total.cpu_us - before.cpu_us;
  attempt.end.read_bytes = total.read_bytes - before.read_bytes;
  attempt.end.written_bytes = total.written_bytes - before.written_bytes;
}

void note_still(Attempt& attempt, Still still, MonoTime from, MonoTime to) {
  if (attempt.end.still != Still::None || to - from < kStoodStill) return;
  attempt.end.still = still;
  attempt.end.still_from = from;
  attempt.end.still_to = to;
}

}  // namespace

void Warden::act_on_time() {
  const MonoTime now = BootClock::now();
  act_on_voucher(now);
  resting_.expire(now);
  std::vector<Attempt*> unproven;
  for (auto& [key, attempt] : attempts_) {
    if (attempt.phase == Phase::Ended) continue;
    if (attempt.term_at && now >= *attempt.term_at) {
      attempt.term_at.reset();
      begin_death(attempt, KilledBy::Timeout, attempt.kill_grace);
    }
    if (attempt.kill_at && now >= *attempt.kill_at) send_kill(attempt);
    if (attempt.give_up_at && now >= *attempt.give_up_at) unproven.push_back(&attempt);
  }
  for (Attempt* attempt : unproven) {
    attempt->give_up_at.reset();
    finish(*attempt, false);
  }
}

void Warden::act_on_voucher(MonoTime now) {
  if (!vouched_until_) return;
  if (now > *vouched_until_) read_notes();  // what keepers have done by themselves was earlier
  for (auto& [key, attempt] : attempts_) {
    if (attempt.phase == Phase::Ended || attempt.end.kill_sent) continue;
    const MonoTime end = *vouched_until_ + attempt.disconnect_grace;
    if (now <= end) continue;
    look_who_stood_still(attempt, end + kLapseSlack, now);
    begin_death(attempt, KilledBy::Voucher, Millis{0});
  }
  // The proper too: it may hang, or hold handlers that run inside of it. The next life registers anew.
  if (life_has_vouched_ && now > *vouched_until_ && proper_.is_alive()) {
    life_has_vouched_ = false;
    proper_.kill_for_voucher();
  }
}

/// At `due` the attempt's keeper ends it by itself. A keeper that is still there at `now` has not run
/// since, and on a host that stood still as a whole neither has anything of the attempt.
void Warden::look_who_stood_still(Attempt& attempt, MonoTime due, MonoTime now) {
  if (now - due < kStoodStill || due < keepers_look_by_) return;
  if (!setup_.namespaces.pid_namespace) return note_still(attempt, Still::Unknown, due - kLapseSlack, now);
  if (attempt.pid > 0 && !has_ended(attempt.pidfd)) note_still(attempt, Still::All, due, now);
}

void Warden::begin_death(Attempt& attempt, KilledBy by, Millis grace) {
  if (attempt.end.killed_by == KilledBy::None && !attempt.main_status_known) {
    attempt.end.killed_by = by;
  }
  if (grace <= Millis{0}) return send_kill(attempt);
  if (attempt.end.kill_sent) return;
  const MonoTime at = BootClock::now() + grace;
  attempt.kill_at = attempt.kill_at ? std::min(*attempt.kill_at, at) : at;
  if (!attempt.end.term_sent) send_term(attempt);
}

void Warden::send_term(Attempt& attempt) {
  attempt.end.term_sent = true;
  attempt.end.term_at = BootClock::now();
  if (!setup_.namespaces.pid_namespace) return signal_set(attempt, SIGTERM);
  if (attempt.pid > 0) ask_for_term(attempt.pidfd.get(), attempt.serial, attempt.server.has_value());
}

void Warden::send_kill(Attempt& attempt) {
  attempt.kill_at.reset();
  if (!attempt.end.kill_sent) {
    attempt.end.kill_at = BootClock::now();
    attempt.give_up_at = attempt.end.kill_at + kProofPatience;
  }
  attempt.end.kill_sent = true;
  if (attempt.cgroup) attempt.cgroup->unthrottle();
  signal_set(attempt, SIGKILL);
}

void Warden::signal_set(const Attempt& attempt, int signal) {
  if (attempt.pid > 0) ::syscall(SYS_pidfd_send_signal, attempt.pidfd.get(), signal, nullptr, 0);
  if (setup_.namespaces.pid_namespace) return;
  if (attempt.cgroup && signal == SIGKILL) attempt.cgroup->kill();
  const auto found = scanner_.scan(::getpid(), proper_.pid());
  const auto members = found.members.find(attempt.serial);
  if (members == found.members.end()) return;
  for (const ProcessIdentity& who : members->second) {
    if (who.pid == attempt.pid) continue;
    signal_exactly(who, signal);
    if (signal == SIGTERM) signal_exactly(who, SIGCONT);
  }
}

Attempt* Warden::by_serial(std::uint64_t serial) {
  const auto key = keys_by_serial_.find(serial);
  if (key == keys_by_serial_.end()) return nullptr;
  const auto held = attempts_.find(key->second);
  return held == attempts_.end() ? nullptr : &held->second;
}

void Warden::read_notes() {
  KeeperNote note;
  while (::read(notes_read_.get(), &note, sizeof note) == static_cast<ssize_t>(sizeof note)) {
    on_note(note);
  }
}

void Warden::on_note(const KeeperNote& note) {
  Attempt* attempt = by_serial(note.serial);
  if (attempt == nullptr || attempt->phase == Phase::Ended) return;
  switch (note.kind) {
    case KeeperNote::Kind::Started:
      attempt->phase = Phase::Running;
      attempt->started_untold = true;
      return queue(*attempt);
    case KeeperNote::Kind::NotStarted:
      attempt->end.failed_step = static_cast<StartStep>(note.failed_step);
      attempt->end.error = note.error;
      attempt->end.detail = note.detail;
      attempt->main_status_known = true;
      attempt->phase = Phase::Emptying;
      return;
    case KeeperNote::Kind::MainEnded:
      attempt->end.peak_memory_bytes = note.peak_memory_bytes;
      hear_of_keeper(*attempt, note);
      return record_main_end(*attempt, note.wait_status, MonoTime{Micros{note.at_boot_us}});
    case KeeperNote::Kind::Emptied:
      return on_emptied(*attempt, note);
    case KeeperNote::Kind::Lapsed:
      hear_of_keeper(*attempt, note);
      if (attempt->end.killed_by == KilledBy::None) attempt->end.killed_by = KilledBy::Voucher;
      return record_main_end(*attempt, SIGKILL, MonoTime{Micros{note.at_boot_us}});
  }
}

/// The keeper has proven that its set is empty, and would serve again. When its attempt was not left
/// alone, its own end is awaited all the same: a signal may be on its way to it.
void Warden::on_emptied(Attempt& attempt, const KeeperNote& note) {
  attempt.end.peak_memory_bytes = note.peak_memory_bytes;
  hear_of_keeper(attempt, note);
  record_main_end(attempt, note.wait_status, MonoTime{Micros{note.at_boot_us}});
  const Ended& end = attempt.end;
  const bool was_left_alone = end.killed_by == KilledBy::None && !end.term_sent && !end.kill_sent &&
                              end.still == Still::None && !attempt.unproven_told;
  if (!attempt.server || !was_left_alone) return signal_set(attempt, SIGKILL);
  set_used(attempt, note.used);
  ServingKeeper& server = *attempt.server;
  server.used_before = note.used;
  ++server.served;
  server.pid = attempt.pid;
  server.pidfd = std::move(attempt.pidfd);
  keys_by_pid_.erase(attempt.pid);
  attempt.pid = -1;
  emptied_.push_back(attempt.key);
  finish(attempt, true);
}

/// A keeper that acts late stood still. When it acted in time and the warden learns of that late, then the
/// warden stood still.
void Warden::hear_of_keeper(Attempt& attempt, const KeeperNote& note) {
  const MonoTime due{Micros{note.due_boot_us}};
  if (note.due_boot_us == 0 || due < keepers_look_by_) return;
  note_still(attempt, Still::All, due, MonoTime{Micros{note.at_boot_us}});
  if (note.kind == KeeperNote::Kind::Lapsed) note_still(attempt, Still::WardenAlone, due, BootClock::now());
}

void Warden::record_main_end(Attempt& attempt, int wait_status, MonoTime at) {
  attempt.main_status_known = true;
  if (WIFEXITED(wait_status)) attempt.end.exit_status = WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) {
    attempt.end.signal = WTERMSIG(wait_status);
    attempt.end.core = WCOREDUMP(wait_status);
  }
  attempt.end.ended = at;
  attempt.end.ended_wall = SystemClock().wall() - floor_ms(BootClock::now() - at);
  attempt.phase = Phase::Emptying;
  attempt.term_at.reset();
  if (attempt.cgroup) attempt.cgroup->unthrottle();  // the rest of it is to end now
}

/// The keeper's end (the kernel has emptied its namespace) or the main process's (the scans follow).
void Warden::on_child_ended(Attempt& attempt, int wait_status, const ::rusage& used) {
  attempt.pid = -1;
  attempt.pidfd.reset();
  set_used(attempt, totals_of(used));
  // Of a keeper that has served before this is the peak of all its attempts; it has noted that of the last.
  if (!attempt.server || attempt.server->served == 0) {
    attempt.end.peak_memory_bytes = std::int64_t{used.ru_maxrss} * 1024;
  }
  attempt.server.reset();
  const bool has_lapsed = setup_.namespaces.pid_namespace && !attempt.main_status_known &&
                          WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == kExitLapsed;
  if (has_lapsed || (attempt.end.still == Still::All && attempt.end.killed_by == KilledBy::Voucher)) {
    if (attempt.end.killed_by == KilledBy::None) attempt.end.killed_by = KilledBy::Voucher;
    wait_status = SIGKILL;  // what its main process has met
  }
  // A keeper notes that it ends its set before the set has ended: the set may have run since the thaw.
  const bool ended_after_thaw = attempt.end.still == Still::All && attempt.end.killed_by == KilledBy::Voucher;
  if (!attempt.main_status_known || ended_after_thaw) record_main_end(attempt, wait_status, BootClock::now());
  if (attempt.cgroup && attempt.cgroup->had_oom_kill() && attempt.end.killed_by == KilledBy::None) {
    attempt.end.killed_by = KilledBy::Memory;
    attempt.end.detail = "oom_killed: the kernel ended it at the limit of its cgroup's memory";
  }
  if (setup_.namespaces.pid_namespace) return finish(attempt, true);
  if (attempt.cgroup) attempt.cgroup->kill();
  scanner_.set_ending(attempt.serial);
  if (!attempt.give_up_at) attempt.give_up_at = BootClock::now() + kProofPatience;
  attempt.kill_at.reset();
  next_scan_ = BootClock::now();
}

void Warden::fail_start(Attempt& attempt, StartStep step, int error, std::string detail) {
  attempt.end.failed_step = step;
  attempt.end.error = error;
  attempt.end.detail = std::move(detail);
  attempt.out.reset();
  attempt.err.reset();
  attempt.progress.reset();
  finish(attempt, true);
}

/// Proven: it is over. Not proven: said once; the set stays watched, and a late proof is told too.
void Warden::finish(Attempt& attempt, bool proven) {
  attempt.end.proven_empty = proven;
  if (proven) attempt.end.empty_at = BootClock::now();
  attempt.end_untold = true;
  if (proven) {
    attempt.phase = Phase::Ended;
    attempt.term_at.reset();
    attempt.kill_at.reset();
    attempt.give_up_at.reset();
    scanner_.remove(attempt.serial);
    close_cgroup(attempt);
  } else {
    attempt.unproven_told = true;
  }
  queue(attempt);
}

/// What all of the set have used is known to the kernel, also of those whom nobody has waited for.
void Warden::close_cgroup(Attempt& attempt) {
  if (!attempt.cgroup) return;
  attempt.end.cpu_us = std::max(attempt.end.cpu_us, attempt.cgroup->cpu_us().value_or(0));
  if (!attempt.cgroup->remove()) complain("a cgroup could not be removed", attempt.cgroup->path());
  attempt.cgroup.reset();
}

void Warden::scan_sets() {
  if (setup_.namespaces.pid_namespace) return;
  const MonoTime now = BootClock::now();
  if (next_scan_ && now < *next_scan_) return;
  next_scan_.reset();
  if (are_all_children_known() && are_all_children_known()) finish_all_without_main();
  std::vector<Attempt*> open;
  for (auto& [key, attempt] : attempts_) {
    if (attempt.phase != Phase::Ended) open.push_back(&attempt);
  }
  if (open.empty()) return;
  const bool any_dying = std::ranges::any_of(open, [](const Attempt* attempt) {
    return attempt->phase == Phase::Emptying || attempt->end.kill_sent;
  });
  // While all just run, a look now and then remembers who belongs to whom.
  if (!any_dying && now < remembered_at_ + kScanWhileRunning) {
    next_scan_ = remembered_at_ + kScanWhileRunning;
    return;
  }
  remembered_at_ = now;
  const SetScanner::Found found = scanner_.scan(::getpid(), proper_.pid());
  Millis pause = kScanWhileRunning;
  for (Attempt* attempt : open) {
    pause = std::min(pause, scan_pause(*attempt, now));
    if (attempt->phase != Phase::Emptying && !attempt->end.kill_sent) continue;
    look_at_set(*attempt, found);
  }
  next_scan_ = now + pause;
}

/// True when the warden has no child except the proper and the main processes of attempts. Since orphans
/// become its children at once, a set without its main process has then nobody left: the cheap proof,
/// which spares most attempts a pass over /proc.
bool Warden::are_all_children_known() const {
  const auto children = own_children();
  return children && std::ranges::all_of(*children, [this](pid_t child) {
           return child == proper_.pid() || keys_by_pid_.contains(child);
         });
}

void Warden::finish_all_without_main() {
  std::vector<AttemptKey> done;
  for (const auto& [key, attempt] : attempts_) {
    const bool is_left = attempt.cgroup && !attempt.cgroup->is_empty();
    if (attempt.phase == Phase::Emptying && attempt.pid < 0 && !is_left) done.push_back(key);
  }
  for (const AttemptKey& key : done) finish(attempts_.at(key), true);
}

/// Kills who is left; two passes in a row that see nobody prove the set empty.
void Warden::look_at_set(Attempt& attempt, const SetScanner::Found& found) {
  const auto members = found.members.find(attempt.serial);
  const bool is_left = attempt.cgroup && !attempt.cgroup->is_empty();
  const bool is_empty =
      members == found.members.end() && !found.in_doubt.contains(attempt.serial) && !is_left;
  if (is_left) attempt.cgroup->kill();
  attempt.empty_scans = is_empty && attempt.pid < 0 ? attempt.empty_scans + 1 : 0;
  if (attempt.empty_scans >= 2) return finish(attempt, true);
  if (members == found.members.end()) return;
  for (const ProcessIdentity& who : members->second) signal_exactly(who, SIGKILL);
}

}  // namespace rota::worker::warden
