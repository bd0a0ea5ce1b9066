// A runner and a sink that write down what the desk asks of them, and run nothing.
#pragma once

#include <functional>
#include <tuple>
#include <utility>
#include <vector>

#include "worker/desk/attempt_runner.h"
#include "worker/desk/outcome_sink.h"

namespace rota::worker::desk {

/// Thread: one. The test plays the runner's events on `events`.
class FakeRunner final : public AttemptRunner {
 public:
  struct End {
    model::AttemptKey key;
    EndReason why = EndReason::Cancelled;
    std::optional<Millis> grace;
    bool operator==(const End&) const = default;
  };

  Result<void> open(AttemptEvents& wanted, const std::set<model::AttemptKey>& keys) override {
    events = &wanted;
    unreported = keys;
    for (const Adopted& attempt : held) adopted.push_back(events->adopted(attempt));
    return {};
  }
  std::optional<Unfit> check(const Order&) const override { return unfit; }
  Result<void> start(const Envelope&, const Order& order) override {
    if (while_starting) while_starting();
    if (start_fails) return fail(ErrorCode::Unavailable, "no folder");
    starts.push_back(order.key);
    orders.push_back(order);
    return {};
  }
  void end(model::AttemptKey key, EndReason why, std::optional<Millis> grace) override {
    ends.push_back({key, why, grace});
  }
  void vouch(MonoTime until) override { vouches.push_back(until); }
  bool is_in_control() const override { return in_control; }
  void outcomes_stored(const std::vector<model::AttemptKey>& keys) override { stored = keys; }
  void outcomes_acknowledged(const std::vector<model::AttemptKey>& keys) override { acknowledged = keys; }

  // what the test sets
  std::vector<Adopted> held;             ///< told in open
  std::optional<Unfit> unfit;
  bool start_fails = false;
  bool in_control = true;
  std::function<void()> while_starting;
  // what it sees
  AttemptEvents* events = nullptr;
  std::set<model::AttemptKey> unreported;
  std::vector<bool> adopted;             ///< the desk's answers
  std::vector<model::AttemptKey> starts, stored, acknowledged;
  std::vector<Order> orders;             ///< of starts
  std::vector<End> ends;
  std::vector<MonoTime> vouches;
};

struct FakeSink final : OutcomeSink {
  void started(model::AttemptReport report) override { starts.push_back(std::move(report)); }
  void noted(model::AttemptReport report) override { notes.push_back(std::move(report)); }
  void finished(model::AttemptReport report) override { outcomes.push_back(std::move(report)); }
  bool is_full() const override { return full; }

  bool full = false;
  std::vector<model::AttemptReport> starts, notes, outcomes;
};

}  // namespace rota::worker::desk
