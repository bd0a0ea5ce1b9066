// Keeps a line that repeats from filling the log: of each kind so many in a window are written, then one at
// the end of each window, the last that came, with the count of those like it. Pure; log.cpp asks it.
//
// Warnings and errors are of one kind when channel, level and sentence agree, whatever their keys. A line of
// information is the same only with the same keys: it often tells of one thing among many; unless it was
// written by log_one_of_many. Debug lines are always written.
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
  std::size_t burst = 10;       ///< so many of a kind are written in a window
  Millis window{10'000};
  std::size_t most_lines = 1024;  ///< lines of information that are remembered; what is beyond is written
};

/// Thread: one at a time.
class LogLimiter {
 public:
  explicit LogLimiter(const LogLimits& limits = {}) : limits_(limits) {}

  /// Whether the line is to be written now. If not, it is kept in place of the one kept before.
  bool admits(const LogRecord& record, MonoTime now);
  /// The kept lines whose window is over, each with its count as key "repeated", in the order in which they
  /// came. A kind that goes on gets one such line a window; one that paused for a window begins anew.
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
  std::unordered_map<std::string, Kind> kinds_;  ///< warnings and errors: as many as there are sentences
  std::unordered_map<std::string, Kind> lines_;  ///< information
  MonoTime swept_{};
  std::uint64_t order_ = 0;
  std::size_t holding_ = 0;       ///< kinds that hold a line
};

}  // namespace rota
