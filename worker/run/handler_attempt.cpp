#include "worker/run/handler_attempt.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>

#include "common/base/utf8.h"
#include "worker/run/handler_call.h"
#include "worker/run/thread_costs.h"

namespace rota::worker::run {

namespace {

using model::Outcome;
using model::Reason;
using model::RunState;
using warden::KilledBy;

}  // namespace

HandlerAttempt::HandlerAttempt(model::AttemptKey key, sdk::RunFacts facts, PipeReceiver pipe_receiver,
                               NoteListener note_listener, std::optional<std::string> checkpoint,
                               sdk::LockService* locks)
    : key_(key),
      facts_(std::move(facts)),
      pipe_receiver_(std::move(pipe_receiver)),
      note_listener_(std::move(note_listener)),
      checkpoint_(std::move(checkpoint)),
      locks_(locks) {}

Result<void> HandlerAttempt::output(std::string value) {
  if (auto fine = check_value("a result value", value.size()); !fine) return fine;
  std::scoped_lock lock(mutex_);
  result_ = std::move(value);
  return {};
}

void HandlerAttempt::progress(int percent, std::string_view text) {
  if (!note_listener_) return;
  Said said;
  said.percent = std::clamp(percent, 0, 100);
  said.text = clean_text(text, kMaxProgressText);
  note_listener_(key_, std::move(said));
}

Result<void> HandlerAttempt::save_checkpoint(std::string state) {
  if (auto fine = check_value("a checkpoint", state.size()); !fine) return fine;
  if (!note_listener_) return {};
  Said said;
  said.checkpoint = std::move(state);
  note_listener_(key_, std::move(said));
  return {};
}

Result<std::unique_ptr<sdk::HeldLock>> HandlerAttempt::lock(const std::string& name, Millis at_most) {
  return acquire_lock(locks_, *this, name, at_most);
}

bool HandlerAttempt::cancelled() const { return cancelled_by() != KilledBy::None; }

KilledBy HandlerAttempt::cancelled_by() const {
  std::scoped_lock lock(mutex_);
  return cancelled_by_;
}

bool HandlerAttempt::wait_cancelled(Millis at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [&] { return cancelled_by_ != KilledBy::None; });
}

void HandlerAttempt::cancel(KilledBy by) {
  {
    std::scoped_lock lock(mutex_);
    if (cancelled_by_ != KilledBy::None) return;
    cancelled_by_ = by;
  }
  changed_.notify_all();
}

bool HandlerAttempt::has_output() const {
  std::scoped_lock lock(mutex_);
  return has_output_;
}

void HandlerAttempt::log(std::string_view line) { write_to(1, std::string(line) + "\n"); }

void HandlerAttempt::log_error(std::string_view line) { write_to(2, std::string(line) + "\n"); }

void HandlerAttempt::write(std::string_view bytes) { write_to(1, bytes); }

void HandlerAttempt::write_to(int stream, std::string_view bytes) {
  std::scoped_lock lock(write_mutex_);
  UniqueFd& pipe = pipes_[stream - 1];
  if (!pipe.is_open()) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return;
    pipe.reset(ends[1]);
    {
      std::scoped_lock state(mutex_);
      has_output_ = true;
    }
    pipe_receiver_(key_, stream, UniqueFd(ends[0]));
  }
  write_all(pipe.get(), bytes);
}

Outcome HandlerAttempt::outcome_of(const Result<void>& result) const {
  std::scoped_lock lock(mutex_);
  Outcome outcome;
  outcome.result = result_;
  if (result) {
    outcome.state = RunState::Succeeded;
  } else {
    outcome.state = RunState::Failed;
    outcome.reason = Reason::HandlerFailed;
    outcome.message = clean_text(result.error().message, kMaxHandlerMessage);
  }
  switch (cancelled_by_) {
    case KilledBy::None:
    case KilledBy::Memory:  // limits are for commands
    case KilledBy::Processes:
    case KilledBy::Cpu:
    case KilledBy::Folder:
      break;
    case KilledBy::Timeout:
      outcome.state = RunState::TimedOut;
      outcome.reason = Reason::AttemptTimeout;
      break;
    case KilledBy::Cancel:
      outcome.state = RunState::Killed;
      outcome.reason = Reason::CancelledByUser;
      break;
    case KilledBy::Voucher:
    case KilledBy::Stop:
      if (result) break;
      outcome.state = RunState::Lost;
      outcome.reason = Reason::AttemptDied;
      break;
  }
  return outcome;
}

Outcome HandlerAttempt::run(sdk::Handler& handler, const Clock& clock) {
  const WallTime started = clock.wall();
  const ThreadCosts before = ThreadCosts::now();
  const Result<void> result = call_handler(handler, *this);
  const ThreadCosts used = ThreadCosts::now().since(before);
  Outcome outcome = outcome_of(result);
  outcome.cpu_us = used.cpu_us;
  outcome.read_bytes = used.read_bytes;
  outcome.written_bytes = used.written_bytes;
  outcome.started = started;
  outcome.ended = clock.wall();
  std::scoped_lock lock(write_mutex_);
  pipes_[0].reset();
  pipes_[1].reset();
  return outcome;
}

}  // namespace rota::worker::run
