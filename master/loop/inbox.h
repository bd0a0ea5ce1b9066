// Where everything that concerns a Term arrives: API threads, dispatch threads and ZooKeeper's threads post
// events, the loop drains them. There are four inlets, so that a flood of requests crowds out neither the
// cluster's state nor the answers to what was sent:
//   cluster   workers seen and gone; never full
//   answers   to hellos and dispatches; bounded by what was sent, so never full either
//   reports   of workers, and their renewals; bounded: "overloaded", then they wait at the worker
//   requests  of clients; bounded: "overloaded, retry after"
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <stop_token>
#include <vector>

#include "common/base/result.h"
#include "common/base/time.h"
#include "master/core/event.h"

namespace rota::master::loop {

enum class Inlet { Cluster, Answers, Reports, Requests };

/// Which inlet an event takes. Pure.
Inlet inlet_of(const core::Event& event);

/// The token of the reply that somebody waits for; 0 when nobody does. Pure.
Token token_of(const core::Event& event);

struct InboxLimits {
  std::size_t reports = 10'000;
  std::size_t requests = 10'000;
};

/// Thread: post from any; drain and wait by the loop only. Outlives the loop and its producers (the
/// Term owns it; producers reach it through Master, which forgets it before the Term goes).
class Inbox {
 public:
  explicit Inbox(const InboxLimits& limits = {}) : limits_(limits) {}

  /// Hands an event in. Overloaded when its inlet is full, NotLeader when the inbox is closed: in both cases
  /// the event was surely not accepted, and the caller answers its own token.
  Result<void> post(core::Event event);

  /// Gives up to `most` events without waiting: cluster first, then answers, reports, requests, each in order
  /// of arrival. Every inlet gets a share, so none starves.
  std::vector<core::Event> drain(std::size_t most);

  /// Waits until something is inside, at most `timeout`, or until stop is asked for, wake() was called since
  /// the last wait, or it is closed.
  void wait(Micros timeout, std::stop_token stop);

  /// Ends the loop's wait, or its next one: something else is ready. Thread: any.
  void wake();

  /// Refuses everything from now on and gives what was not drained, so that it can be answered.
  std::vector<core::Event> close();

  std::size_t size() const;
  /// What waits already stays. Thread: any.
  void set_limits(const InboxLimits& limits);

 private:
  std::size_t limit_of(Inlet inlet) const;

  InboxLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable_any ready_;
  std::array<std::deque<core::Event>, 4> inlets_;
  std::size_t size_ = 0;
  bool closed_ = false;
  bool is_woken_ = false;
};

}  // namespace rota::master::loop
