// P5: what followed an attempt that was lost with its worker is what the job's loss policy allows.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "master/verify/verify.h"

namespace rota::master::verify {

/// Thread: one. All references outlive it.
class LossCheck {
 public:
  LossCheck(store::Reader& reader, Check& check) : reader_(reader), check_(check) {}

  /// A run with its earlier attempts; those without a loss cost nothing. A job's version that is not stored
  /// any more promised nothing that could be held against the rows.
  Result<void> look_at(const model::Run& run, const std::vector<model::AttemptRow>& earlier);

 private:
  using Definition = std::shared_ptr<const model::JobDefinition>;

  Result<Definition> definition_of(const model::Run& run);
  void check_limit(const model::Run& run, const model::JobRules& rules);
  void check_never(const model::Run& run, const std::vector<model::AttemptRow>& followed);

  Result<void> check_confirmed(const model::Run& run, const std::vector<model::AttemptRow>& followed);

  store::Reader& reader_;
  Check& check_;
  std::map<std::pair<JobId, JobVersion>, Definition> known_;
  std::optional<std::map<model::WorkerKey, model::WorkerDeath>> deaths_;  ///< read once they are asked for
};

}  // namespace rota::master::verify
