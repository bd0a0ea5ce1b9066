// The network of a simulated world: a message may be lost, late or doubled; an answer may be lost
// although the request was done.
#include "world.h"

namespace rota::sim {

using master::core::DispatchAnswered;
using master::core::DispatchVerdict;
using master::core::HelloAnswered;
using master::core::HelloFailed;
using master::core::Send;
using master::core::SendCancel;
using master::core::SendDispatch;
using master::core::SendDrain;
using master::core::SendHello;
using std::chrono_literals::operator""ms;

namespace {

constexpr Millis kRpcDeadline{2000};

DispatchAnswered unknown_for_all(const SendDispatch& message) {
  DispatchAnswered answer{message.worker, {}};
  for (const auto& item : message.items) {
    answer.verdicts.push_back({item.attempt, DispatchVerdict::Kind::Unknown, {}, "deadline"});
  }
  return answer;
}

}  // namespace

bool World::message_lost(const char* mark) {
  if (!random.per_mille(lost_per_mille)) return false;
  marks.hit(mark);
  return true;
}

Millis World::message_delay() {
  if (!random.per_mille(late_per_mille)) return small_delay();
  marks.hit("fault_message_delayed");
  return random.between(20ms, 5000ms);
}

bool World::hears(bool to_worker, std::size_t master, std::size_t worker) const {
  return masters[master]->is_alive() && !workers[worker]->cut_from_masters &&
         !cuts.contains({to_worker, master, worker});
}

void World::post(std::size_t master, Epoch epoch, master::core::Event event) {
  if (masters[master]->epoch() == epoch) masters[master]->post(std::move(event));
}

void World::expect(Token token, std::function<void(const master::core::ReplyBody&)> then) {
  expected_[token] = std::move(then);
}

void World::answer(Token token, master::core::ReplyBody body, Millis leaves_in) {
  after(leaves_in + small_delay(), [this, token, body = std::move(body)] {
    const auto found = expected_.find(token);
    if (found == expected_.end()) return;
    const auto then = std::move(found->second);
    expected_.erase(found);
    if (const auto* error = std::get_if<Error>(&body)) {
      if (error->code == ErrorCode::UnknownOutcome) marks.hit("answer_unknown");
      if (error->code == ErrorCode::NotLeader) marks.hit("answer_not_leader");
    }
    then(body);
  });
}

void World::to_leader(std::size_t worker, std::size_t master,
                      std::function<master::core::Event(Token)> make,
                      std::function<void(const master::core::ReplyBody&)> then) {
  if (random.per_mille(doubled_per_mille)) {
    marks.hit("fault_message_doubled");
    after(random.between(1ms, 9000ms), [this, worker, master, make] {
      if (hears(false, master, worker)) masters[master]->post(make(new_token()));
    });
  }
  after(message_delay(), [this, worker, master, make = std::move(make), then = std::move(then)] {
    if (!hears(false, master, worker) || !masters[master]->leads()) return;
    const Token token = new_token();
    expect(token, [this, worker, master, then](const master::core::ReplyBody& body) {
      if (hears(true, master, worker)) then(body);
    });
    if (!masters[master]->post(make(token))) forget(token);
  });
}

void World::carry(std::size_t master, Epoch epoch, Send message, Millis leaves_in) {
  after(leaves_in, [this, master, epoch, message = std::move(message)] { leave(master, epoch, message); });
}

/// A frozen process sends when it continues; a dead one never does.
void World::leave(std::size_t master, Epoch epoch, const Send& message) {
  if (masters[master]->epoch() != epoch) return;
  if (masters[master]->is_frozen()) {
    after(10ms, [this, master, epoch, message] { leave(master, epoch, message); });
    return;
  }
  if (const auto* hello = std::get_if<SendHello>(&message)) carry_hello(master, epoch, *hello);
  if (const auto* dispatch = std::get_if<SendDispatch>(&message)) carry_dispatch(master, epoch, *dispatch);
  if (const auto* cancel = std::get_if<SendCancel>(&message)) carry_cancel(master, epoch, *cancel);
  if (const auto* drain = std::get_if<SendDrain>(&message)) carry_drain(master, epoch, *drain);
}

/// A lost message is sent again, because the node does not confirm it.
void World::carry_drain(std::size_t master, Epoch epoch, const SendDrain& message) {
  const std::size_t worker = message.address.port;
  if (message_lost("fault_request_lost")) return;
  after(message_delay(), [this, master, epoch, worker, message] {
    if (hears(true, master, worker)) tell_refusal(master, epoch, message.worker, workers[worker]->drain(epoch, message));
  });
}

/// A worker that knows a higher epoch says so, and the answer may be lost: the message is sent again.
void World::tell_refusal(std::size_t master, Epoch epoch, const model::WorkerKey& worker, model::Refusal why) {
  if (why != model::Refusal::OldEpoch || message_lost("fault_answer_lost")) return;
  after(message_delay(), [this, master, epoch, worker] {
    marks.hit("epoch_refused");
    post(master, epoch, master::core::EpochRefused{worker});
  });
}

void World::carry_hello(std::size_t master, Epoch epoch, const SendHello& message) {
  const std::size_t worker = message.address.port;
  auto open = std::make_shared<bool>(true);
  const auto fail_open = [this, master, epoch, open, key = message.worker](bool refused) {
    if (std::exchange(*open, false)) post(master, epoch, HelloFailed{key, refused, "no answer"});
  };
  after(kRpcDeadline, [fail_open] { fail_open(false); });
  if (message_lost("fault_request_lost")) return;
  after(message_delay(), [this, master, epoch, worker, message, open, fail_open] {
    if (!hears(true, master, worker)) return;
    if (waits_for(worker, [this, master, epoch, message] { carry_hello(master, epoch, message); })) return;
    auto inventory = workers[worker]->hello(epoch, master, message.worker);
    if (!inventory) {
      fail_open(true);
      return;
    }
    if (message_lost("fault_answer_lost") || !hears(false, master, worker)) return;
    after(message_delay(), [this, master, epoch, open, inventory = std::move(*inventory)] {
      if (std::exchange(*open, false)) post(master, epoch, HelloAnswered{inventory});
    });
  });
}

void World::carry_dispatch(std::size_t master, Epoch epoch, const SendDispatch& sent) {
  const auto message = std::make_shared<const SendDispatch>(sent);
  for (const auto& item : sent.items) {
    if (item.schedule.find(',') != std::string::npos) marks.hit("tick_of_two_entries");
  }
  auto open = std::make_shared<bool>(true);
  const auto settle = [this, master, epoch, open](DispatchAnswered answer) {
    if (std::exchange(*open, false)) post(master, epoch, std::move(answer));
  };
  after(kRpcDeadline, [settle, message] { settle(unknown_for_all(*message)); });
  if (message_lost("fault_request_lost")) return;
  const bool doubled = random.per_mille(doubled_per_mille);
  const auto answer = [settle, message](const auto& verdicts) {
    settle(verdicts ? DispatchAnswered{message->worker, *verdicts} : unknown_for_all(*message));
  };
  after(message_delay(), [this, master, epoch, message, answer] { arrive(master, epoch, message, answer); });
  if (!doubled) return;
  marks.hit("fault_message_doubled");
  after(random.between(1ms, 9000ms), [this, master, epoch, message] {
    arrive(master, epoch, message, [](const auto&) {});
  });
}

/// A dispatch reaches the worker; a stopped worker receives it when it continues.
void World::arrive(std::size_t master, Epoch epoch, const Sent& message, const Answer& answer) {
  const std::size_t worker = message->address.port;
  if (!hears(true, master, worker)) return;
  if (waits_for(worker, [this, master, epoch, message, answer] { arrive(master, epoch, message, answer); })) return;
  auto verdicts = workers[worker]->dispatch(epoch, *message);
  if (message_lost("fault_answer_lost") || !hears(false, master, worker)) return;
  after(message_delay(), [answer, verdicts = std::move(verdicts)] { answer(verdicts); });
}

bool World::waits_for(std::size_t worker, Clockwork::Deed deed) {
  const MonoTime until = workers[worker]->frozen_until();
  if (until <= now()) return false;
  after(std::chrono::ceil<Millis>(until - now()), std::move(deed));
  return true;
}

void World::carry_cancel(std::size_t master, Epoch epoch, const SendCancel& message) {
  const std::size_t worker = message.address.port;
  if (message_lost("fault_request_lost")) return;
  after(message_delay(), [this, master, epoch, worker, message] {
    if (!hears(true, master, worker)) return;
    const auto obey = [this, master, worker, epoch, message] {
      tell_refusal(master, epoch, message.worker, workers[worker]->cancel(epoch, message));
    };
    if (!waits_for(worker, obey)) obey();
  });
}

}  // namespace rota::sim
