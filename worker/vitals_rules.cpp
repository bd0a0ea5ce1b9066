#include "worker/vitals_rules.h"

#include <algorithm>
#include <cstdlib>

namespace rota::worker {
namespace {

constexpr Millis kSoon{3000};
constexpr Millis kSooner{60'000};
constexpr std::int32_t kPercentMoved = 5;

bool has_moved(std::int32_t before, std::int32_t now) { return std::abs(before - now) >= kPercentMoved; }

}  // namespace

double load_of(double cpu, double memory, double slots, const LoadWeights& weights) {
  const double share = std::clamp(cpu, 0.0, 1.0) * weights.cpu +
                       std::clamp(memory, 0.0, 1.0) * weights.memory +
                       std::clamp(slots, 0.0, 1.0) * weights.slots;
  return 100.0 * share / (weights.cpu + weights.memory + weights.slots);
}

bool is_worth_telling(const model::WorkerVitals& told, const model::WorkerVitals& now, Millis since) {
  if (told.health != now.health) return true;
  if (since < kSoon) return false;
  const std::int64_t disk = std::abs(told.disk_free_bytes - now.disk_free_bytes);
  const bool has_disk_moved = disk > told.disk_free_bytes / 20;
  if (has_moved(told.cpu_percent, now.cpu_percent) || has_moved(told.memory_percent, now.memory_percent) ||
      has_moved(told.load_percent, now.load_percent) || has_disk_moved) {
    return true;
  }
  if (since < kSooner) return false;
  model::WorkerVitals same_moment = now;
  same_moment.sampled = told.sampled;
  return same_moment != told;
}

}  // namespace rota::worker
