// Runs that have ended and whose children are to begin, in the order of their ends.
#pragma once

#include <cstddef>
#include <deque>
#include <utility>

#include "common/model/child.h"

namespace rota::master::core {

/// Thread: the Scheduler's.
class ChildTable {
 public:
  struct Owed {
    model::OwedChildren row;
    bool is_stored = false;            ///< a new Term would find it
  };

  void owe(model::OwedChildren row, bool is_stored) { owed_.push_back({std::move(row), is_stored}); }
  bool empty() const { return owed_.empty(); }
  std::size_t size() const { return owed_.size(); }
  const Owed& first() const { return owed_.front(); }
  Owed take_first() {
    Owed first = std::move(owed_.front());
    owed_.pop_front();
    return first;
  }
  /// Those that are not stored are the last ones.
  template <typename Store>
  void store_rest(const Store& store) {
    auto at = owed_.end();
    while (at != owed_.begin() && !(at - 1)->is_stored) --at;
    for (; at != owed_.end(); ++at) {
      store(at->row);
      at->is_stored = true;
    }
  }
  const std::deque<Owed>& all() const { return owed_; }

  /// See ChildRunsKnown.
  bool may_begin() const { return may_begin_; }
  void set_may_begin(bool may) { may_begin_ = may; }

 private:
  std::deque<Owed> owed_;
  bool may_begin_ = true;
};

}  // namespace rota::master::core
