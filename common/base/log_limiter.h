// Keeps a line that repeats from filling the log. A few lines of each kind are written in a window, then one
// at the end of each window: the latest, with the count of its kind. Pure; log.cpp asks it.
//
// Warnings and errors are of one kind when channel, level and sentence are equal, whatever their keys. Lines
// of level info are of one kind only with equal keys, because each is often about one thing among many. For
// lines of log_one_of_many the keys do not count. Debug lines are always written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/base/log_format.h"
#include "common/base/time.h"

namespace rota {

struct LogLimits {
  std::size_t burst = 10;       ///< this many lines of a kind are written in a window
  Millis window{10'000};
  std::size_t most_lines = 1024;  ///< lines of level info that are remembered; others are always written
};

/// Thread: one at a time.
class LogLimiter {
 public:
  explicit LogLimiter(const LogLimits& limits = {}) : limits_(limits) {}

  /// Whether to write the line now. If not, it is kept and replaces the line kept before.
  bool admits(const LogRecord& record, MonoTime now);
  /// The kept lines whose window is over, each with its count as key "repeated", in order of arrival.
  /// A kind that continues gets one such line per window; a kind that paused for a window starts again.
  std::vector<LogRecord> due(MonoTime now);
  /// All kept lines, for the end of the log.
  std::vector<LogRecord> rest();
  bool holds_any() const { return holding_ > 0; }

 private:
  struct Kind {
    MonoTime began{};
    std::size_t written = 0;
    std::int64_t held = 0;
    std::uint64_t order = 0;      ///< of the last one held
    LogRecord last;
  };
  Kind* kind_of(const LogRecord& record, MonoTime now);
  void forget_quiet_lines(MonoTime now);
  std::vector<LogRecord> release(MonoTime now, bool all);

  const LogLimits limits_;
  std::unordered_map<std::string, Kind> kinds_;  ///< warnings and errors: bounded by the number of sentences
  std::unordered_map<std::string, Kind> lines_;  ///< level info
  MonoTime swept_{};
  std::uint64_t order_ = 0;
  std::size_t holding_ = 0;       ///< kinds that hold a line
};

}  // namespace rota
