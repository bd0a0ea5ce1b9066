// What a master does after a takeover that failed: whether it tries again at once as the first candidate, or
// lets others go first, and for how long. Pure.
#pragma once

#include <optional>

#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::master {

/// Thread: one at a time.
class TakeoverPacing {
 public:
  struct Next {
    bool steps_back = false;   ///< gives the candidacy up; stands again, last in the row, after `pause`
    Millis pause{0};           ///< before the next try
  };

  /// - Conflict (another was faster): last in the row, at once.
  /// - ZooKeeper or the database did not answer: the same again may do; after 5 s of it others go first.
  /// - Anything else is better tried by another master (e.g. one that knows the time zone of every job),
  ///   and not over and over by this one, since each try takes the office from whoever leads: it stays
  ///   away for 200 ms, then twice as long each time, up to 5 s.
  Next after_failure(ErrorCode code, MonoTime now);
  void after_success();
  /// ZooKeeper or the database did not answer, or not clearly.
  static bool may_pass(ErrorCode code);

 private:
  std::optional<MonoTime> failing_since_;   ///< without an answer
  Millis away_{0};                          ///< last time; 0: never
};

}  // namespace rota::master
