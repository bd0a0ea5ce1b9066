// Which broken invariants of the core a Term has found. What is broken stays broken and is found again and
// again, but it is logged and counted once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "master/core/violation.h"

namespace rota::master::loop {

/// Thread: the owner's.
class ViolationsMet {
 public:
  static constexpr std::size_t kMost = 1000;  ///< more are neither logged nor counted

  /// True when it must be logged: it was not found before.
  bool note(const core::Violation& violation) {
    if (met_.size() >= kMost || !met_.insert(violation.what).second) return false;
    if (first_.empty()) first_ = violation.what;
    return true;
  }
  std::int64_t count() const { return static_cast<std::int64_t>(met_.size()); }
  const std::string& first() const { return first_; }

 private:
  std::set<std::string> met_;
  std::string first_;
};

}  // namespace rota::master::loop
