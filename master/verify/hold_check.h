// P45: no attempt is sent to a worker while a stored hold keeps all attempts from it (it is excluded, or
// comes and goes). A hold belongs to one Term, so only attempts that the same Term surely sent are compared
// with it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "master/verify/verify.h"

namespace rota::master::verify {

/// Thread: one. All references outlive it.
class HoldCheck {
 public:
  HoldCheck(const Sources& sources, Check& check) : sources_(sources), check_(check) {}

  /// A run, with its earlier attempts.
  Result<void> look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier);

 private:
  using Holds = std::map<std::pair<Epoch, std::string>, std::vector<model::WorkerHold>>;

  Result<void> read();
  void look_at_attempt(RunId run, AttemptNo attempt, const std::string& worker, WallTime dispatched);

  const Sources& sources_;
  Check& check_;
  std::optional<Holds> holds_;         ///< by Term and worker; read once they are asked for
};

/// Whether an attempt that the hold's own Term sent at that moment was sent in spite of it. Pure.
bool is_against(const model::WorkerHold& hold, WallTime dispatched);

}  // namespace rota::master::verify
