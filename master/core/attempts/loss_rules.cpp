#include "master/core/attempts/loss_rules.h"

#include <algorithm>

namespace rota::master::core {

AfterLoss after_loss(const model::JobRules& rules, std::int32_t losses, bool handed_over) {
  if (rules.loss == model::LossPolicy::Never) return AfterLoss::EndLost;
  if (handed_over) return AfterLoss::Rerun;
  return losses >= rules.loss_most ? AfterLoss::EndAtLimit : AfterLoss::Rerun;
}

Millis loss_delay(std::int32_t losses) {
  if (losses <= 3) return Millis{0};
  const std::int32_t doublings = std::min(losses - 4, 6);
  return std::min(Millis{1000} * (1 << doublings), Millis{60'000});
}

std::string loss_text(std::int32_t attempt, const std::string& worker, std::int32_t losses,
                      std::int32_t most) {
  return "attempt " + std::to_string(attempt) + " was lost with worker " + worker + " (loss " +
         std::to_string(losses) + " of at most " + std::to_string(most) + ")";
}

}  // namespace rota::master::core
