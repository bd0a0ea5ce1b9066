// Channels for many threads: each call uses an idle connection to its peer, or makes one, within a
// bound for each peer.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "common/rpc/channel.h"

namespace rota::rpc {

struct PoolOptions {
  std::size_t per_peer = 8;       ///< calls at once to one peer
  std::size_t idle_peers = 256;   ///< peers whose connections are kept
  Millis keep_idle{20'000};       ///< well below the server's idle timeout
};

/// Thread: any. Outlives the calls it serves.
template <typename Client>
class ChannelPool {
 public:
  explicit ChannelPool(PoolOptions options = {}) : options_(options) {}

  /// Like Channel::call. Overloaded (certainly not done) when all connections to the peer stay busy
  /// until the timeout has passed.
  template <typename Use>
  auto call(const Endpoint& peer, Use&& use, Millis timeout)
      -> CallResult<std::invoke_result_t<Use, Client&>> {
    const MonoTime deadline = BootClock::now() + timeout;
    std::unique_ptr<Channel<Client>> channel = take(peer, deadline);
    if (!channel) {
      return tl::unexpected<CallError>(CallError{
          Error(ErrorCode::Overloaded, "all connections to " + to_string(peer) + " are busy"),
          {}, Millis{50}, false, false});
    }
    const Millis left = floor_ms(deadline - BootClock::now());
    auto result = channel->call(std::forward<Use>(use), left);
    give_back(peer, std::move(channel));
    return result;
  }

  /// Closes the idle connections to a peer that is gone.
  void forget(const Endpoint& peer) {
    std::scoped_lock lock(mutex_);
    if (auto found = peers_.find(peer); found != peers_.end()) found->second.idle.clear();
  }

  /// The number of idle connections. For tests.
  std::size_t idle() const {
    std::scoped_lock lock(mutex_);
    std::size_t sum = 0;
    for (const auto& [peer, entry] : peers_) sum += entry.idle.size();
    return sum;
  }

 private:
  struct Idle {
    std::unique_ptr<Channel<Client>> channel;
    MonoTime since{};
  };
  struct Peer {
    std::deque<Idle> idle;  ///< the newest last
    std::size_t in_use = 0;
  };

  std::unique_ptr<Channel<Client>> take(const Endpoint& peer, MonoTime deadline) {
    std::unique_lock lock(mutex_);
    drop_old(BootClock::now());
    while (peers_[peer].in_use >= options_.per_peer) {
      const auto left = deadline - BootClock::now();
      if (left <= Micros{0}) return nullptr;
      freed_.wait_for(lock, left);
    }
    Peer& entry = peers_[peer];
    ++entry.in_use;
    if (entry.idle.empty()) return std::make_unique<Channel<Client>>(peer);
    auto channel = std::move(entry.idle.back().channel);
    entry.idle.pop_back();
    return channel;
  }

  void give_back(const Endpoint& peer, std::unique_ptr<Channel<Client>> channel) {
    {
      std::scoped_lock lock(mutex_);
      Peer& entry = peers_[peer];
      --entry.in_use;
      if (channel->is_open()) entry.idle.push_back(Idle{std::move(channel), BootClock::now()});
      if (peers_.size() > options_.idle_peers) drop_oldest_peer();
    }
    freed_.notify_all();
  }

  void drop_old(MonoTime now) {
    for (auto at = peers_.begin(); at != peers_.end();) {
      auto& idle = at->second.idle;
      while (!idle.empty() && now - idle.front().since > options_.keep_idle) idle.pop_front();
      at = idle.empty() && at->second.in_use == 0 ? peers_.erase(at) : std::next(at);
    }
  }

  void drop_oldest_peer() {
    auto oldest = peers_.end();
    for (auto at = peers_.begin(); at != peers_.end(); ++at) {
      if (at->second.in_use != 0 || at->second.idle.empty()) continue;
      if (oldest == peers_.end() ||
          at->second.idle.back().since < oldest->second.idle.back().since) {
        oldest = at;
      }
    }
    if (oldest != peers_.end()) peers_.erase(oldest);
  }

  const PoolOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::map<Endpoint, Peer> peers_;
};

}  // namespace rota::rpc
