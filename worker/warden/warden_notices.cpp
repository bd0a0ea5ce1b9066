// What the worker proper is told. Nothing is ever waited for: what does not fit into the socket stays
// a flag on its attempt, so that a proper that is stopped for hours costs no memory.
#include "worker/warden/packet.h"
#include "worker/warden/warden.h"

namespace rota::worker::warden {

namespace {

/// Descriptors that a message shows but does not own.
class LentStarted {
 public:
  LentStarted(Started& message, const Attempt& attempt) : message_(message) {
    message.key = attempt.key;
    message.pid = attempt.shown_pid;
    message.started_wall = attempt.end.started_wall;
    message.started = attempt.end.started;
    message.pidfd.reset(attempt.pidfd.get());
    message.out.reset(attempt.out.get());
    message.err.reset(attempt.err.get());
    message.progress.reset(attempt.progress.get());
  }
  LentStarted(const LentStarted&) = delete;
  LentStarted& operator=(const LentStarted&) = delete;
  ~LentStarted() {
    for (UniqueFd* fd : {&message_.pidfd, &message_.out, &message_.err, &message_.progress}) {
      (void)fd->release();
    }
  }

 private:
  Started& message_;
};

}  // namespace

void Warden::welcome() {
  Welcome message;
  message.means = setup_.means;
  message.life = proper_.life();
  message.outer_pid = proper_.outer_pid();
  message.held = static_cast<std::uint32_t>(attempts_.size());
  message.room = static_cast<std::uint32_t>(room_);
  if (vouched_until_) message.vouched_until = *vouched_until_;
  if (setup_.cgroups) message.kernel_limits = setup_.cgroups->can_limit();
  message.start = start_;
  tell(Notice{message});
}

void Warden::queue(Attempt& attempt) {
  if (attempt.is_queued || attempt.is_forgotten) return forget_if_done(attempt.key);
  attempt.is_queued = true;
  to_tell_.push_back(attempt.key);
}

/// False: the socket is full or gone.
bool Warden::tell(const Notice& notice) {
  if (proper_.socket() < 0) return false;
  const std::vector<int> fds = descriptors_of(notice);
  const Result<void> sent = send_packet(proper_.socket(), encode(notice), fds);
  if (!sent && sent.error().code == ErrorCode::Overloaded) is_blocked_ = true;
  return sent.has_value();
}

void Warden::tell_all() {
  if (is_blocked_ || proper_.socket() < 0) return;
  if (pong_) {
    if (!tell(Notice{*pong_})) return;
    pong_.reset();
  }
  for (; !refusals_.empty(); refusals_.pop_front()) {
    if (!tell(Notice{refusals_.front()})) return;
  }
  for (; !to_tell_.empty(); to_tell_.pop_front()) {
    const auto held = attempts_.find(to_tell_.front());
    if (held == attempts_.end()) continue;
    if (!tell_attempt(held->second)) return;
    held->second.is_queued = false;
  }
  if (list_end_ && tell(Notice{*list_end_})) list_end_.reset();
}

bool Warden::tell_attempt(Attempt& attempt) {
  if (attempt.owner_life != proper_.life()) return true;  // this life has not asked for it yet
  if (attempt.held_untold && attempt.phase != Phase::Starting) {
    if (!tell_held(attempt)) return false;
    if (attempt.phase == Phase::Ended) let_rest(attempt);
    attempt.held_untold = attempt.started_untold = attempt.end_untold = false;
  }
  if (attempt.started_untold) {
    if (!tell_started(attempt)) return false;
    attempt.started_untold = false;
  }
  if (attempt.end_untold) {
    if (!tell(Notice{attempt.end})) return false;
    attempt.end_untold = false;
    let_rest(attempt);
  }
  return true;
}

/// Only now: the proper holds the keeper's pidfd for this attempt until it has heard of the end.
void Warden::let_rest(Attempt& attempt) {
  if (!attempt.server || attempt.server->pid < 0) return;
  resting_.put(std::move(*attempt.server), BootClock::now());
  attempt.server.reset();
}

/// Of attempts that have ended in this round: a proper that does not listen costs no processes.
void Warden::end_unheard_keepers() {
  for (const AttemptKey& key : emptied_) {
    if (const auto held = attempts_.find(key); held != attempts_.end()) held->second.server.reset();
  }
  emptied_.clear();
}

bool Warden::tell_held(Attempt& attempt) {
  Notice notice{Held{}};
  Held& held = std::get<Held>(notice);
  if (attempt.phase == Phase::Ended || attempt.unproven_told) held.end = attempt.end;
  held.note = attempt.note;
  held.disconnect_grace = attempt.disconnect_grace;
  const LentStarted lent(held.running, attempt);
  return tell(notice);
}

bool Warden::tell_started(Attempt& attempt) {
  Notice notice{Started{}};
  const LentStarted lent(std::get<Started>(notice), attempt);
  return tell(notice);
}

}  // namespace rota::worker::warden
