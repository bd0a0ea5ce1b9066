#include "demand_draw.h"

namespace rota::sim {
namespace {

constexpr int kWidePercent = 40;                   ///< of the worlds
constexpr std::uint64_t kWideStream = 71, kOfferStream = 72;
constexpr std::int32_t kMoreSlots = 2;
constexpr std::int64_t kUnit = std::int64_t{1} << 30;

}  // namespace

bool has_wide_runs(std::uint64_t seed) { return Random(seed, kWideStream).chance(kWidePercent); }

std::int32_t more_slots(std::uint64_t seed) { return has_wide_runs(seed) ? kMoreSlots : 0; }

model::Amounts offers_of(std::uint64_t seed, std::size_t worker) {
  if (!has_wide_runs(seed)) return {};
  Random dice(seed * 100 + worker, kOfferStream);
  return {{"memory", kUnit * (2 + dice.below(4))}, {"gpu", 1 + dice.below(2)}};
}

void draw_demand(model::JobRules& rules, std::uint64_t seed, Random& dice) {
  rules.slots = 1;
  rules.needs.clear();
  if (!has_wide_runs(seed)) return;
  if (dice.chance(40)) rules.slots = static_cast<std::int32_t>(2 + dice.below(kMoreSlots));
  if (dice.chance(40)) rules.needs["memory"] = kUnit / 2 * (1 + dice.below(4));
  if (dice.chance(15)) rules.needs["gpu"] = 1;
}

}  // namespace rota::sim
