// P41: no more tokens of a semaphore are held at once than it has. What a run takes is read from the version
// of its job that it was made of; how many there are, from the semaphore's stored versions. Runs of one-offs
// are left out, so that it claims too little and never too much.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "master/verify/held_beside.h"

namespace rota::master::verify {

/// Thread: one. All references outlive it.
class TokenCheck {
 public:
  TokenCheck(const Sources& sources, Check& check) : sources_(sources), check_(check) {}

  /// A version of a job whose runs come. Those without `uses` cost nothing.
  void learn(const model::JobVersionRow& version);
  /// In the order of run ids.
  Result<void> look_at(const model::Run& run, const std::vector<Span>& spans);

 private:
  using Name = std::pair<std::string, std::string>;

  Result<HeldBeside*> semaphore(const Name& name);

  const Sources& sources_;
  Check& check_;
  std::map<std::pair<JobId, JobVersion>, std::map<std::string, std::int32_t>> uses_;
  std::map<Name, HeldBeside> semaphores_;
};

}  // namespace rota::master::verify
