#include "worker/vitals_rules.h"

#include <algorithm>
#include <string>

namespace rota::worker {
double load_of(double cpu, double memory, double slots, const LoadWeights& weights) {
  const double share = std::clamp(cpu, 0.0, 1.0) * weights.cpu +
                       std::clamp(memory, 0.0, 1.0) * weights.memory +
                       std::clamp(slots, 0.0, 1.0) * weights.slots;
  return 100.0 * share / (weights.cpu + weights.memory + weights.slots);
}

bool is_worth_telling(const model::WorkerVitals& told, const model::WorkerVitals& now) {
  const auto verdict = [](const std::string& health) { return health.substr(0, health.find(':')); };
  return verdict(told.health) != verdict(now.health);
}

}  // namespace rota::worker
