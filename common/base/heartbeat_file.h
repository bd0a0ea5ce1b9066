// The file by which a process shows its watchdog that its main loop makes progress. Its modification time is
// the last beat; its content says what the loop does ("turning", "waiting for the store").
#pragma once

#include <string>
#include <string_view>

#include "common/base/time.h"

namespace rota {

/// Thread: one at a time. Never waits for a disk: it does not sync, and it repeats a failed write with the
/// next beat.
class HeartbeatFile {
 public:
  /// An empty path: every beat does nothing.
  explicit HeartbeatFile(std::string path, Millis every = Millis{500});

  /// Writes at most once per `every`, or at once when the word changes.
  void beat(std::string_view word, MonoTime now);

 private:
  const std::string path_;
  const Millis every_;
  std::string word_;
  MonoTime last_{};
};

}  // namespace rota
