// For tests of a promised time: a delay by the machine itself is not the product's.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/base/unique_fd.h"

namespace rota::testing {

/// Two threads ask the machine for little all the time: one to be woken after 5 ms, one to write a byte to the
/// disk. The time beyond the expected one is a stall. Thread: any.
class StallMeter {
 public:
  StallMeter();
  ~StallMeter();
  StallMeter(const StallMeter&) = delete;
  StallMeter& operator=(const StallMeter&) = delete;

  /// How long the machine stood still in that stretch; a stall that still lasts counts too.
  Micros within(MonoTime from, MonoTime to) const;
  /// The time since then, without the stalls.
  Micros fair_since(MonoTime from) const;

 private:
  struct Witness {
    std::vector<std::pair<MonoTime, MonoTime>> stalls;
    MonoTime due = MonoTime::max();  ///< of what is under way
  };
  void look_at_clock();
  void look_at_disk();
  void begin(Witness& witness, Micros due_in);
  void end(Witness& witness);

  mutable std::mutex mutex_;
  Witness clock_, disk_;
  std::atomic<bool> stopping_{false};
  UniqueFd file_;
  std::thread clock_thread_, disk_thread_;
};

}  // namespace rota::testing
