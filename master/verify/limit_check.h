// P39: no attempt begins when the time of its run is over (timeout: run), and no first attempt when the wait
// for it is (timeout: queue). Of saved jobs, by the rows alone. What a job does not say, the versions of its
// namespace's quota say: an attempt is wrong when it is so by all that may have been in force when it began.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "master/verify/verify.h"

namespace rota::master::verify {

/// Thread: one. All references outlive it.
class LimitCheck {
 public:
  LimitCheck(store::Reader& reader, Check& check) : reader_(reader), check_(check) {}

  /// A version of a saved job.
  void learn(const model::JobVersionRow& version);
  /// A run, with its earlier attempts. The reader's errors.
  Result<void> look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier);

 private:
  struct Limits {
    Millis run{0}, queue{0};           ///< 0: none
    Millis jitter{0};                  ///< the most that its schedule may delay a start
  };
  using Defaults = std::vector<model::QuotaRow>;

  Result<const Defaults*> defaults_of(const std::string& space);
  void judge(const model::Run& run, const Limits& own, const Defaults& defaults,
             const std::vector<model::AttemptRow>& earlier);

  store::Reader& reader_;
  Check& check_;
  std::map<std::pair<JobId, JobVersion>, Limits> known_;
  std::map<std::string, Defaults> defaults_;  ///< by namespace; empty: it never had such a time
};

/// The most by which an entry of the schedule may delay a start.
Millis longest_jitter(const model::Schedule& schedule);

}  // namespace rota::master::verify
