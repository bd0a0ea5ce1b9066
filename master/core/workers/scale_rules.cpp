#include "master/core/workers/scale_rules.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace rota::master::core {

using model::ScaleReason;

namespace {

/// Less is nothing, in parts of a worker's slots: an average never gets to zero.
constexpr double kNextToNothing = 0.1;

double share(std::int32_t percent) { return percent / 100.0; }
double middle(const ScaleLimits& limits) { return share(limits.up_percent + limits.down_percent) / 2; }

/// How many more, at least one. Bounded: figures may be as large as a queue.
std::int64_t more(double demand, double slots, double per_worker, const ScaleLimits& limits) {
  const double wanting = std::ceil((demand / middle(limits) - slots) / per_worker);
  return static_cast<std::int64_t>(std::clamp(wanting, 1.0, static_cast<double>(model::kMaxPoolWorkers)));
}

/// How many less; 0: one less would have too much to do.
std::int64_t fewer(const PoolLoad& load, double slots, double per_worker, const ScaleLimits& limits,
                   std::int64_t wanted) {
  const double spare = std::floor((slots - load.demand / middle(limits)) / per_worker);
  auto less = static_cast<std::int64_t>(std::clamp(spare, 0.0, static_cast<double>(wanted)));
  const double rest = slots - per_worker;
  if (less == 0 && rest > 0 && load.demand <= rest * share(limits.up_percent)) less = 1;
  const bool may_be_none = load.is_idle && load.demand < kNextToNothing * per_worker;
  if (may_be_none) return wanted;
  return std::min(less, wanted - 1);
}

ScaleWish up(const PoolLoad& load, const ScaleLimits& limits, const ScaleBefore& before, double slots,
             WallTime now) {
  if (before.wanted >= limits.most) return {before.wanted, ScaleReason::Maximum};
  const bool must_wait = !before.went_down && now - before.changed < limits.cool_down;
  if (must_wait) return {before.wanted, ScaleReason::CoolDown};
  const std::int64_t wanted = before.wanted + more(load.demand, slots, slots_per_worker(load), limits);
  return {std::min(wanted, limits.most), ScaleReason::Load};
}

ScaleWish down(const PoolLoad& load, const ScaleLimits& limits, const ScaleBefore& before, double slots,
               WallTime now) {
  const std::int64_t less = fewer(load, slots, slots_per_worker(load), limits, before.wanted);
  if (less <= 0) return {before.wanted, ScaleReason::Steady};
  if (before.wanted <= limits.least) return {before.wanted, ScaleReason::Minimum};
  const bool must_wait = !before.may_fall || now - before.changed < limits.cool_down;
  if (must_wait) return {before.wanted, ScaleReason::CoolDown};
  return {std::max(before.wanted - less, limits.least), ScaleReason::Load};
}

}  // namespace

double slots_per_worker(const PoolLoad& load) {
  if (load.accepting <= 0) return load.per_worker;
  return static_cast<double>(load.slots) / static_cast<double>(load.accepting);
}

double wanted_slots(const PoolLoad& load, std::int64_t wanted) {
  // One that an operator has drained keeps its place, so nobody comes for it; and nobody goes for it.
  const std::int64_t to_come = std::max<std::int64_t>(wanted - load.here, 0);
  const std::int64_t to_go = std::max<std::int64_t>(load.here - load.drained - wanted, 0);
  const auto others = static_cast<double>(load.registering + to_come - to_go);
  return std::max(0.0, static_cast<double>(load.slots) + slots_per_worker(load) * others);
}

ScaleWish wish_for(const PoolLoad& load, const ScaleLimits& limits, const ScaleBefore& before, WallTime now) {
  if (before.wanted < limits.least) return {limits.least, ScaleReason::Minimum};
  if (before.wanted > limits.most) return {limits.most, ScaleReason::Maximum};
  if (before.wanted == 0) {
    if (!load.has_waiting) return {0, ScaleReason::Steady};
    return limits.most == 0 ? ScaleWish{0, ScaleReason::Maximum} : ScaleWish{1, ScaleReason::Queue};
  }
  if (slots_per_worker(load) <= 0) return {before.wanted, ScaleReason::Unknown};
  const double slots = wanted_slots(load, before.wanted);
  if (load.demand > slots * share(limits.up_percent)) return up(load, limits, before, slots, now);
  if (load.demand < slots * share(limits.down_percent)) return down(load, limits, before, slots, now);
  return {before.wanted, ScaleReason::Steady};
}

double averaged(double before, double now, Millis passed, Millis over) {
  const auto part = static_cast<double>(std::max(passed, Millis{0}).count());
  const double whole = part + static_cast<double>(over.count());
  return whole <= 0 ? now : before + (now - before) * part / whole;
}

std::vector<ScaleCandidate> who_goes(std::vector<ScaleCandidate> all, std::size_t count) {
  std::ranges::sort(all, [](const ScaleCandidate& a, const ScaleCandidate& b) {
    return std::tie(a.accepts, a.running, b.joined, b.key) < std::tie(b.accepts, b.running, a.joined, a.key);
  });
  if (all.size() > count) all.resize(count);
  return all;
}

}  // namespace rota::master::core
