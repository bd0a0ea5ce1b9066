// What listings of the workers have shown, and who waits for the next one: runs whose fence has passed, since
// absence counts only when it was seen after it, and a ZooKeeper that is new.
#pragma once

#include <cstdint>
#include <map>

#include "common/base/ids.h"

namespace rota::master::core {

/// Thread: the Scheduler's.
class ListingTable {
 public:
  /// WorkersListed has come.
  bool is_listed() const { return listed_; }
  void set_listed() { listed_ = true; }
  /// The number of one that is asked for now.
  std::int64_t ask() { return ++asked_; }

  /// The run's fence has passed: if its worker is absent in the listing of that number, another attempt may
  /// follow.
  void wait_for(std::int64_t listing, RunId run) { past_fence_[run] = listing; }
  void stop_waiting(RunId run) { past_fence_.erase(run); }
  bool is_waiting(RunId run) const { return past_fence_.contains(run); }
  /// Runs that wait, and for which listing.
  const std::map<RunId, std::int64_t>& waiting() const { return past_fence_; }

  /// Of the ZooKeeper in use.
  std::int64_t zookeeper_number() const { return zookeeper_number_; }
  void set_zookeeper_number(std::int64_t number) { zookeeper_number_ = number; }
  /// The listing of that number is the first that shows who stands in a ZooKeeper that is new.
  void await_new(std::int64_t listing) { first_of_new_ = listing; }
  /// True for the first listing of a new one, once.
  bool shows_new(std::int64_t listing) {
    if (first_of_new_ == 0 || listing < first_of_new_) return false;
    first_of_new_ = 0;
    return true;
  }

 private:
  bool listed_ = false;
  std::int64_t asked_ = 0;
  std::map<RunId, std::int64_t> past_fence_;
  std::int64_t zookeeper_number_ = 0;
  std::int64_t first_of_new_ = 0;      ///< 0: no such listing is awaited
};

}  // namespace rota::master::core
