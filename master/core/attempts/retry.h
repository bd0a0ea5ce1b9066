// Is there another attempt after one that ended badly, and when? Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/run.h"
#include "common/model/worker.h"

namespace rota::master::core {

/// The pause before the attempt that follows `failures` failed ones (>= 1), without jitter, or none when the
/// rule allows no more. Failed and TimedOut count as failures; losses do not, nor what `again` means.
std::optional<Millis> retry_delay(const model::RetryRule& rule, std::int32_t failures);

/// No pause is longer that follows so many failed attempts.
Millis longest_pause(const model::RetryRule& rule, std::int32_t failures);

/// Whether an attempt that ended so may be followed by another under the retry rule.
constexpr bool may_retry(model::RunState ended) {
  return ended == model::RunState::Failed || ended == model::RunState::TimedOut;
}

/// What the rule goes by, of an attempt that failed or timed out.
struct FailedAttempt {
  model::AttemptKey key;
  std::int32_t failures = 0;           ///< of the run before it
  Millis age{0};                       ///< since the start of the run's first attempt
};

struct NextTry {
  std::optional<Millis> pause;         ///< before the next attempt; none: none follows
  bool is_failure = true;              ///< it counts as one
  std::string why;                     ///< none follows although `count` allows it; or why it is no failure
};

/// The jitter hangs on the attempt alone, so each leader decides the same.
NextTry next_try(const model::RetryRule& rule, const model::Outcome& outcome, const FailedAttempt& attempt);

}  // namespace rota::master::core
