// A desk with a fake runner and a fake sink, greeted by the leader of epoch 5 and vouched for.
#pragma once

#include <doctest/doctest.h>

#include "test/unit/worker/fake_runner.h"
#include "test/unit/worker/temporary_folder.h"
#include "worker/desk/attempt_desk.h"

namespace rota::worker::desk {

inline model::AttemptKey attempt(std::int64_t run) { return {RunId{run}, 1}; }

inline Order an_order(std::int64_t run) {
  Order order;
  order.key = attempt(run);
  order.kill_grace = Millis{700};
  return order;
}

inline model::Outcome an_outcome(WallTime started) {
  model::Outcome outcome;
  outcome.state = model::RunState::Succeeded;
  outcome.started = started;
  return outcome;
}

struct DeskRig {
  static constexpr Millis kGrant{5000};

  testing::TemporaryFolder folder;
  FakeClock clock;
  FakeRunner runner;
  FakeSink sink;
  EpochKeeper epochs{folder.path() + "/epochs"};
  LeaderAddress leader;
  std::vector<std::pair<model::DrainAck, std::optional<WallTime>>> drains;
  AttemptDesk desk{{.slots = 2},
                   {runner, sink, epochs, leader, clock,
                    [this](const model::DrainAck& ack, std::optional<WallTime> hands_over_at) {
                      drains.emplace_back(ack, hands_over_at);
                    }}};
  const model::WorkerKey life{"w1", "aa"};
  const Envelope envelope{Epoch{5}, life};

  explicit DeskRig(const std::vector<model::AttemptReport>& unreported = {},
                   std::vector<Adopted> held = {}) {
    runner.held = std::move(held);
    REQUIRE(desk.open(unreported));
    desk.begin_life(life);
    REQUIRE(desk.hello(greeting(Epoch{5})));
    desk.extend_grant(clock.mono(), kGrant);
  }

  Greeting greeting(Epoch epoch) const {
    return {"cluster-1", life.incarnation, {epoch, {"127.0.0.1", 7400}, Millis{5000}}};
  }
  OrderAnswer dispatch(const Order& order) { return desk.dispatch(envelope, {order}).at(0); }
  model::Refusal dispatch(std::int64_t run) { return dispatch(an_order(run)).refusal; }
  void start(std::int64_t run) {
    REQUIRE(dispatch(run) == model::Refusal::None);
    desk.started(attempt(run), life, clock.wall());
  }
  /// It ends, and its outcome is synced.
  model::AttemptReport finish(std::int64_t run) {
    desk.ended(attempt(run), life, an_outcome(clock.wall()));
    desk.stored({sink.outcomes.back()});
    return sink.outcomes.back();
  }
  model::HeldAttempt::State state_of(std::int64_t run) const {
    for (const model::HeldAttempt& held : desk.inventory().attempts) {
      if (held.key == attempt(run)) return held.state;
    }
    FAIL("the desk does not know run " << run);
    return {};
  }
};

}  // namespace rota::worker::desk
