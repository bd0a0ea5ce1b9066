#include "master/core/attempts/retry.h"

#include <algorithm>
#include <cmath>

#include "common/base/duration_text.h"
#include "common/model/retry_text.h"
#include "master/core/admission/route.h"

namespace rota::master::core {

namespace {

/// From 0 to `most`, spread evenly over attempts.
Millis jitter_of(const model::AttemptKey& key, Millis most) {
  if (most <= Millis{0}) return Millis{0};
  const auto choices = static_cast<std::uint64_t>(most.count()) + 1;
  return Millis{static_cast<std::int64_t>(lot_of(key) % choices)};
}

std::optional<model::AgainRule> again_of(const model::RetryRule& rule) {
  if (rule.again.empty()) return std::nullopt;
  auto again = model::again_from_text(rule.again);
  return again ? std::optional(std::move(*again)) : std::nullopt;
}

NextTry try_later(const model::AgainRule& again, const FailedAttempt& attempt, Millis jitter) {
  const bool is_over = again.at_most > Millis{0} && attempt.age + again.every > again.at_most;
  if (is_over) return {{}, true, "not ready for " + format_duration(again.at_most) + " (retry: again)"};
  return {again.every + jitter, false, "not ready yet"};
}

}  // namespace

std::optional<Millis> retry_delay(const model::RetryRule& rule, std::int32_t failures) {
  if (failures > rule.count) return std::nullopt;
  const double steps = std::max(0, failures - 1);
  const double grown =
      static_cast<double>(rule.delay.count()) * std::pow(std::max(1.0, rule.factor), steps);
  const double capped = std::min(grown, static_cast<double>(rule.max_delay.count()));
  return Millis{static_cast<std::int64_t>(capped)};
}

Millis longest_pause(const model::RetryRule& rule, std::int32_t failures) {
  const auto again = again_of(rule);
  const Millis base = retry_delay(rule, failures).value_or(Millis{0});
  return std::max(base, again ? again->every : Millis{0}) + rule.jitter;
}

NextTry next_try(const model::RetryRule& rule, const model::Outcome& outcome, const FailedAttempt& attempt) {
  const Millis jitter = jitter_of(attempt.key, rule.jitter);
  const auto again = again_of(rule);
  if (again && model::is_not_ready(*again, outcome.state, outcome.exit_status)) {
    return try_later(*again, attempt, jitter);
  }
  const auto delay = retry_delay(rule, attempt.failures + 1);
  if (!delay) return {};
  const bool is_forbidden = model::is_meant(rule.never, outcome);
  if (is_forbidden) return {{}, true, "an end that is not tried again (retry: never)"};
  if (!rule.only.empty() && !model::is_meant(rule.only, outcome)) {
    return {{}, true, "an end that is not tried again (retry: only)"};
  }
  return {*delay + jitter, true, {}};
}

}  // namespace rota::master::core
