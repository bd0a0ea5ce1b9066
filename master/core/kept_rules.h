// A job's rules as the leader keeps them: with what its work asks of a worker.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "common/model/job.h"

namespace rota::master::core {

struct KeptRules : model::JobRules {
  KeptRules() = default;
  explicit KeptRules(model::JobRules rules, const std::string& handler_in = {})
      : model::JobRules(std::move(rules)), handler(handler_in == "command" ? "" : handler_in) {}
  explicit KeptRules(const model::JobDefinition& definition)
      : KeptRules(definition.rules, definition.work.handler) {}

  std::string handler;                 ///< that a worker must know; empty: `command`, which each knows
  bool operator==(const KeptRules&) const = default;
};

/// What a version of a job says of its runs; shared by all that were made of it.
using RulesPtr = std::shared_ptr<const KeptRules>;

}  // namespace rota::master::core
