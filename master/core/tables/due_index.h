// Which job fires when, in order. Jobs that fire at the same moment share its place, since many do: at full
// minutes, or at midnight.
#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "master/core/tables/id_set.h"

namespace rota::master::core {

/// A job, and when it fires next.
struct DueTick {
  WallTime at{};
  JobId job;
  auto operator<=>(const DueTick&) const = default;
};

/// Thread: the Scheduler's.
class DueIndex {
  using Moments = std::map<WallTime, IdSet<JobId>>;

 public:
  /// In the order of moments, then of jobs.
  class iterator {
   public:
    iterator() = default;
    iterator(Moments::const_iterator moment, Moments::const_iterator end) : moment_(moment), end_(end) {
      if (moment_ != end_) job_ = moment_->second.begin();
    }
    DueTick operator*() const { return {moment_->first, *job_}; }
    iterator& operator++() {
      if (++job_ == moment_->second.end()) *this = iterator(std::next(moment_), end_);
      return *this;
    }
    bool operator==(const iterator& other) const {
      return moment_ == other.moment_ && (moment_ == end_ || job_ == other.job_);
    }

   private:
    Moments::const_iterator moment_, end_;
    IdSet<JobId>::iterator job_;
  };

  iterator begin() const { return {moments_.begin(), moments_.end()}; }
  iterator end() const { return {moments_.end(), moments_.end()}; }
  std::size_t size() const { return size_; }

  void insert(const DueTick& tick) {
    if (moments_[tick.at].insert(tick.job)) ++size_;
  }
  void erase(const DueTick& tick) {
    const auto moment = moments_.find(tick.at);
    if (moment == moments_.end() || !moment->second.erase(tick.job)) return;
    --size_;
    if (moment->second.empty()) moments_.erase(moment);
  }
  bool contains(const DueTick& tick) const {
    const auto moment = moments_.find(tick.at);
    return moment != moments_.end() && moment->second.contains(tick.job);
  }
  std::optional<DueTick> first() const { return first_of(moments_.begin()); }
  /// The first one that is due later than that.
  std::optional<DueTick> first_after(WallTime at) const { return first_of(moments_.upper_bound(at)); }

 private:
  std::optional<DueTick> first_of(Moments::const_iterator moment) const {
    if (moment == moments_.end()) return std::nullopt;
    return DueTick{moment->first, *moment->second.begin()};
  }

  Moments moments_;                    ///< none is empty
  std::size_t size_ = 0;
};

}  // namespace rota::master::core
