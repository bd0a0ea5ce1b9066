// P47: a pool's wanted number of workers is never outside its minimum and maximum; each change was told to
// its hook, or is being told; no worker was named as one that may be stopped while an attempt was unfinished
// there.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "master/verify/verify.h"

namespace rota::master::verify {

/// Thread: one. All references outlive it.
class ScaleCheck {
 public:
  ScaleCheck(const Sources& sources, Check& check) : sources_(sources), check_(check) {}

  /// The rows by themselves. Once, before the runs.
  Result<void> look_at_rows();
  /// A run, with its earlier attempts.
  void look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier);

 private:
  Result<void> look_at_pool(const std::string& pool, const std::vector<const model::ScaleChange*>& rows);
  void look_at_attempt(RunId run, AttemptNo attempt, const model::WorkerKey& worker, WallTime from,
                       WallTime to);

  const Sources& sources_;
  Check& check_;
  std::map<model::WorkerKey, std::vector<WallTime>> named_;  ///< when each life was said to be stoppable
};

/// What is wrong with a row under that quota; empty: nothing. Pure.
std::string why_not_within(const model::ScaleChange& row, const model::Quota& quota);

}  // namespace rota::master::verify
