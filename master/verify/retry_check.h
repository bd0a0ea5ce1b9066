// P40: no attempt follows an end that its job's retry rule does not try again (`only`, `never`). Of saved
// jobs, by the rows alone.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "master/verify/verify.h"

namespace rota::master::verify {

/// Thread: one. All references outlive it.
class RetryCheck {
 public:
  explicit RetryCheck(Check& check) : check_(check) {}

  /// A version of a saved job. Those without such a rule cost nothing.
  void learn(const model::JobVersionRow& version);
  /// A run, with its earlier attempts.
  void look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier);

 private:
  Check& check_;
  std::map<std::pair<JobId, JobVersion>, model::RetryRule> known_;
};

}  // namespace rota::master::verify
