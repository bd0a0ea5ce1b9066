// Where the leader is, as the last hello said. Workers learn it in no other way.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/worker.h"

namespace rota::worker::desk {

struct KnownLeader {
  Epoch epoch;
  model::Address address;      ///< port 0: none known yet
  Millis grant{5000};          ///< what an answered renew is worth
  bool operator==(const KnownLeader&) const = default;
};

/// Thread: any.
class LeaderAddress {
 public:
  /// A hello of an epoch that is not lower than the known one.
  void set(const KnownLeader& leader) {
    {
      std::scoped_lock lock(mutex_);
      if (leader.epoch < leader_.epoch) return;
      leader_ = leader;
    }
    changed_.notify_all();
  }

  KnownLeader get() const {
    std::scoped_lock lock(mutex_);
    return leader_;
  }

  /// Waits until a leader is known that differs from `seen`; false after the timeout or a stop.
  bool wait_other_than(const KnownLeader& seen, Millis at_most, std::stop_token stop) const {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, stop, at_most,
                             [&] { return leader_.address.port != 0 && !(leader_ == seen); });
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  KnownLeader leader_;
};

}  // namespace rota::worker::desk
