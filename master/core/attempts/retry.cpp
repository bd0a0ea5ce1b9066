#include "master/core/attempts/retry.h"

#include <algorithm>
#include <cmath>

namespace rota::master::core {

std::optional<Millis> retry_delay(const model::RetryRule& rule, std::int32_t failures) {
  if (failures > rule.count) return std::nullopt;
  const double steps = std::max(0, failures - 1);
  const double grown =
      static_cast<double>(rule.delay.count()) * std::pow(std::max(1.0, rule.factor), steps);
  const double capped = std::min(grown, static_cast<double>(rule.max_delay.count()));
  return Millis{static_cast<std::int64_t>(capped)};
}

}  // namespace rota::master::core
