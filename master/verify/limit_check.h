// P39: no attempt begins when the time of its run is over (timeout: run), and no first attempt when the wait
// for it is (timeout: queue). Of saved jobs, by the rows alone.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "master/verify/verify.h"

namespace rota::master::verify {

/// Thread: one. All references outlive it.
class LimitCheck {
 public:
  explicit LimitCheck(Check& check) : check_(check) {}

  /// A version of a saved job. Those without such a limit cost nothing.
  void learn(const model::JobVersionRow& version);
  /// A run, with its earlier attempts.
  void look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier);

 private:
  struct Limits {
    Millis run{0}, queue{0};           ///< 0: none
    Millis jitter{0};                  ///< the most that its schedule may delay a start
  };
  Check& check_;
  std::map<std::pair<JobId, JobVersion>, Limits> known_;
};

/// The most by which an entry of the schedule may delay a start.
Millis longest_jitter(const model::Schedule& schedule);

}  // namespace rota::master::verify
