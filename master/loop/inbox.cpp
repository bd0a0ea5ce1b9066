#include "master/loop/inbox.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

namespace rota::master::loop {
namespace {

struct Inlets {
  Inlet operator()(const core::TimePassed&) const { return Inlet::Cluster; }
  Inlet operator()(const core::MastersSeen&) const { return Inlet::Cluster; }
  Inlet operator()(const core::LateRowsKnown&) const { return Inlet::Cluster; }
  Inlet operator()(const core::WorkerStartsKnown&) const { return Inlet::Cluster; }
  Inlet operator()(const core::ChildRunsKnown&) const { return Inlet::Cluster; }
  Inlet operator()(const core::WorkerSeen&) const { return Inlet::Cluster; }
  Inlet operator()(const core::WorkerGone&) const { return Inlet::Cluster; }
  Inlet operator()(const core::BeatsEnded&) const { return Inlet::Cluster; }
  Inlet operator()(const core::WorkersListed&) const { return Inlet::Cluster; }
  Inlet operator()(const core::HoldTicks&) const { return Inlet::Cluster; }
  Inlet operator()(const core::HelloAnswered&) const { return Inlet::Answers; }
  Inlet operator()(const core::HelloFailed&) const { return Inlet::Answers; }
  Inlet operator()(const core::EpochRefused&) const { return Inlet::Answers; }
  Inlet operator()(const core::DispatchAnswered&) const { return Inlet::Answers; }
  Inlet operator()(const core::NotificationTried&) const { return Inlet::Answers; }
  Inlet operator()(const core::HookCalled&) const { return Inlet::Answers; }
  Inlet operator()(const core::CapacityLow&) const { return Inlet::Cluster; }
  Inlet operator()(const core::RenewAsked&) const { return Inlet::Reports; }
  Inlet operator()(const core::Reported&) const { return Inlet::Reports; }
  template <typename Request>
  Inlet operator()(const Request&) const {
    return Inlet::Requests;
  }
};

}  // namespace

Inlet inlet_of(const core::Event& event) { return std::visit(Inlets{}, event); }

Token token_of(const core::Event& event) {
  return std::visit(
      [](const auto& e) {
        if constexpr (requires { e.token; }) {
          return e.token;
        } else {
          return Token{};
        }
      },
      event);
}

std::size_t Inbox::limit_of(Inlet inlet) const {
  switch (inlet) {
    case Inlet::Reports:
      return limits_.reports;
    case Inlet::Requests:
      return limits_.requests;
    default:
      return std::numeric_limits<std::size_t>::max();
  }
}

void Inbox::set_limits(const InboxLimits& limits) {
  std::scoped_lock lock(mutex_);
  limits_ = limits;
}

Result<void> Inbox::post(core::Event event) {
  const Inlet inlet = inlet_of(event);
  {
    std::scoped_lock lock(mutex_);
    if (closed_) return fail(ErrorCode::NotLeader, "this master does not lead any more");
    auto& queue = inlets_[static_cast<std::size_t>(inlet)];
    if (queue.size() >= limit_of(inlet)) {
      return fail(ErrorCode::Overloaded, "the leader has " + std::to_string(queue.size()) +
                                             " requests waiting; try again after a pause");
    }
    queue.push_back(std::move(event));
    ++size_;
  }
  ready_.notify_one();
  return {};
}

std::vector<core::Event> Inbox::drain(std::size_t most) {
  std::scoped_lock lock(mutex_);
  std::vector<core::Event> out;
  out.reserve(std::min(most, size_));
  const std::size_t share = std::max<std::size_t>(1, most / inlets_.size());
  for (std::size_t i = 0; i < inlets_.size(); ++i) {
    // The guaranteed share of later inlets stays free for them; what they do not need is used here.
    std::size_t reserved = 0;
    for (std::size_t j = i + 1; j < inlets_.size(); ++j) reserved += std::min(share, inlets_[j].size());
    const std::size_t room = most - std::min(most, out.size() + reserved);
    for (std::size_t n = std::min(room, inlets_[i].size()); n > 0; --n) {
      out.push_back(std::move(inlets_[i].front()));
      inlets_[i].pop_front();
      --size_;
    }
  }
  return out;
}

void Inbox::wait(Micros timeout, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  ready_.wait_for(lock, stop, timeout, [this] { return closed_ || size_ > 0 || is_woken_; });
  is_woken_ = false;
}

void Inbox::wake() {
  {
    std::scoped_lock lock(mutex_);
    is_woken_ = true;
  }
  ready_.notify_one();
}

std::vector<core::Event> Inbox::close() {
  std::vector<core::Event> left;
  {
    std::scoped_lock lock(mutex_);
    closed_ = true;
    for (auto& inlet : inlets_) {
      std::move(inlet.begin(), inlet.end(), std::back_inserter(left));
      inlet.clear();
    }
    size_ = 0;
  }
  ready_.notify_all();
  return left;
}

std::size_t Inbox::size() const {
  std::scoped_lock lock(mutex_);
  return size_;
}

}  // namespace rota::master::loop
