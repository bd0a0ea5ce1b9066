#include "master/dispatch/lanes.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace rota::master::dispatch {
namespace {

std::size_t attempts_in(const core::Send& message) {
  const auto* dispatch = std::get_if<core::SendDispatch>(&message);
  return dispatch == nullptr ? 0 : dispatch->items.size();
}

const model::WorkerKey& worker_of(const core::Send& message) {
  return std::visit([](const auto& one) -> const model::WorkerKey& { return one.worker; }, message);
}

bool is_dispatch(const core::Send& message) {
  return std::holds_alternative<core::SendDispatch>(message);
}

}  // namespace

bool Lanes::push(Epoch epoch, core::Send&& message) {
  const model::WorkerKey worker = worker_of(message);
  {
    std::scoped_lock lock(mutex_);
    const std::size_t more = attempts_in(message);
    if (more > 0 && attempts_ + more > most_attempts_) return false;
    attempts_ += more;
    Lane& lane = lanes_[worker];
    lane.queue.push_back(Entry{epoch, std::move(message)});
    if (lane.taken || lane.queue.size() > 1) return true;  // in ready_ already, or will be
    ready_.push_back(worker);
  }
  ready_changed_.notify_one();
  return true;
}

bool Lanes::is_hello_next(const model::WorkerKey& worker) const {
  return std::holds_alternative<core::SendHello>(lanes_.at(worker).queue.front().message);
}

std::deque<model::WorkerKey>::iterator Lanes::first_allowed() {
  if (hellos_out_ < most_hellos_) return ready_.begin();
  return std::find_if(ready_.begin(), ready_.end(),
                      [this](const auto& worker) { return !is_hello_next(worker); });
}

std::optional<LaneWork> Lanes::take(std::stop_token stop) {
  std::unique_lock lock(mutex_);
  ready_changed_.wait(lock, stop, [this] { return first_allowed() != ready_.end(); });
  const auto next = first_allowed();
  if (stop.stop_requested() || next == ready_.end()) return std::nullopt;
  LaneWork work;
  work.worker = std::move(*next);
  ready_.erase(next);
  Lane& lane = lanes_[work.worker];
  lane.taken = true;
  lane.greeting = is_hello_next(work.worker);
  if (lane.greeting) ++hellos_out_;
  work.epoch = lane.queue.front().epoch;
  do {
    attempts_ -= attempts_in(lane.queue.front().message);
    work.messages.push_back(std::move(lane.queue.front().message));
    lane.queue.pop_front();
  } while (is_dispatch(work.messages.back()) && !lane.queue.empty() &&
           is_dispatch(lane.queue.front().message) && lane.queue.front().epoch == work.epoch);
  return work;
}

void Lanes::done(const model::WorkerKey& worker) {
  bool may_greet = false, has_more = false;
  {
    std::scoped_lock lock(mutex_);
    const auto found = lanes_.find(worker);
    if (found == lanes_.end()) return;
    found->second.taken = false;
    may_greet = std::exchange(found->second.greeting, false);
    if (may_greet) --hellos_out_;
    has_more = !found->second.queue.empty();
    if (has_more) {
      ready_.push_back(worker);
    } else {
      lanes_.erase(found);
    }
  }
  // One thread for each lane that can be taken from now on. The caller itself looks again before it sleeps.
  if (has_more) ready_changed_.notify_one();
  if (may_greet) ready_changed_.notify_one();  // a hello that waited may be allowed now
}

std::vector<core::SendDispatch> Lanes::pop_dispatches(const model::WorkerKey& worker) {
  std::scoped_lock lock(mutex_);
  std::vector<core::SendDispatch> out;
  const auto found = lanes_.find(worker);
  if (found == lanes_.end()) return out;
  std::deque<Entry> kept;
  for (Entry& entry : found->second.queue) {
    if (is_dispatch(entry.message)) {
      attempts_ -= attempts_in(entry.message);
      out.push_back(std::get<core::SendDispatch>(std::move(entry.message)));
    } else {
      kept.push_back(std::move(entry));
    }
  }
  found->second.queue = std::move(kept);
  return out;
}

std::size_t Lanes::clear() {
  std::scoped_lock lock(mutex_);
  std::size_t dropped = 0;
  for (auto at = lanes_.begin(); at != lanes_.end();) {
    dropped += at->second.queue.size();
    at->second.queue.clear();
    at = at->second.taken ? std::next(at) : lanes_.erase(at);
  }
  ready_.clear();
  attempts_ = 0;
  return dropped;
}

}  // namespace rota::master::dispatch
