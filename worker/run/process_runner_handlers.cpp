// Handlers that run inside of this program, on threads of their own. A thread cannot be killed: a handler
// that ignores its cancellation is given up, and its slot with it.
#include "common/base/log.h"
#include "worker/run/handler_facts.h"
#include "worker/run/process_runner.h"

namespace rota::worker::run {

PipeReceiver ProcessRunner::pipe_receiver(std::int64_t cap_bytes) {
  return [this, cap_bytes](model::AttemptKey key, int stream, UniqueFd read_end) {
    auto shared = std::make_shared<UniqueFd>(std::move(read_end));  // std::function copies
    post([this, key, stream, cap_bytes, shared] {
      {
        std::scoped_lock lock(mutex_);
        if (!live_.contains(key)) return;  // given up: its end has been told, and nobody waits for more
      }
      output_.watch({key, stream}, std::move(*shared), cap_bytes);
    });
  };
}

void ProcessRunner::start_handler(const desk::Envelope& envelope, const desk::Order& order,
                                  sdk::Handler& handler) {
  const auto live = live_of(envelope, order);
  live->handler = std::make_shared<HandlerAttempt>(
      order.key, facts_of(order, envelope.epoch, envelope.to), pipe_receiver(order.work.output_cap_bytes),
      [this](model::AttemptKey key, Said said) { tell(key, std::move(said)); }, order.checkpoint,
      options_.locks);
  {
    std::scoped_lock lock(mutex_);
    live_.emplace(order.key, live);
    if (order.timeout > Millis{0}) {
      deadlines_.emplace(clock_.mono() + order.timeout, Deadline{order.key, false});
    }
  }
  handlers_.run([this, live, &handler] { run_handler(live, handler); });
}

/// On a slot's thread.
void ProcessRunner::run_handler(const std::shared_ptr<Live>& live, sdk::Handler& handler) {
  if (live->is_given_up) return;
  live->started = clock_.wall();
  events_->started(live->key, live->life, live->started);
  const model::Outcome outcome = live->handler->run(handler, clock_);
  if (!live->handler->has_output()) return finish_handler(live->key, outcome, false);
  post([this, key = live->key, outcome] { finish_handler(key, outcome, true); });
}

void ProcessRunner::finish_handler(model::AttemptKey key, model::Outcome outcome, bool is_on_loop) {
  const auto live = remove(key, false);
  if (!live) return;  // given up before
  if (is_on_loop) {
    const OutputTotals output = output_.finish(key, clock_.now());
    outcome.stdout_bytes = output.stdout_bytes;
    outcome.stderr_bytes = output.stderr_bytes;
  }
  events_->ended(key, live->life, std::move(outcome));
}

void ProcessRunner::check_deadlines() {
  const MonoTime now = clock_.mono();
  std::vector<model::AttemptKey> given_up;
  {
    std::scoped_lock lock(mutex_);
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
      const Deadline deadline = deadlines_.begin()->second;
      deadlines_.erase(deadlines_.begin());
      const auto found = live_.find(deadline.key);
      if (found == live_.end() || !found->second->handler) continue;
      if (deadline.is_last) {
        given_up.push_back(deadline.key);
        continue;
      }
      found->second->handler->cancel(warden::KilledBy::Timeout);
      deadlines_.emplace(now + found->second->kill_grace, Deadline{deadline.key, true});
    }
    next_deadline_ = deadlines_.empty() ? MonoTime::max() : deadlines_.begin()->first;
  }
  for (const model::AttemptKey& key : given_up) give_up_handler(key);
}

void ProcessRunner::give_up_handler(model::AttemptKey key) {
  log_error("run", "a handler does not end; its slot is not used again", {{"run", key.run.value}});
  model::Outcome outcome;
  outcome.state = model::RunState::KillFailed;
  outcome.reason = model::Reason::KillUnproven;
  outcome.message = "the handler did not return within its grace after it was told to stop";
  outcome.ended = clock_.wall();
  {
    std::scoped_lock lock(mutex_);
    if (const auto found = live_.find(key); found != live_.end()) {
      found->second->is_given_up = true;
      outcome.started = found->second->started;
    }
  }
  finish_handler(key, outcome, true);
}

}  // namespace rota::worker::run
