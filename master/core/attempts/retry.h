// Is there another attempt after one that ended badly, and when? Pure.
#pragma once

#include <cstdint>
#include <optional>

#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/run.h"

namespace rota::master::core {

/// The pause before the attempt that follows `failures` failed ones (>= 1), or none when the rule
/// allows no more. Failed and TimedOut count as failures; losses do not.
std::optional<Millis> retry_delay(const model::RetryRule& rule, std::int32_t failures);

/// Whether an attempt that ended so may be followed by another under the retry rule.
constexpr bool may_retry(model::RunState ended) {
  return ended == model::RunState::Failed || ended == model::RunState::TimedOut;
}

}  // namespace rota::master::core
