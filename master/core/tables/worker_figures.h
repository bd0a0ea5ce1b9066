// What the orders of workers go by beyond slots and rank: uses, turns, load of the host, speed of answers.
// Kept for each life, in memory only: a new leader begins anew, each time with another worker first.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

#include "common/base/time.h"
#include "common/model/worker.h"
#include "master/core/tables/worker_orders.h"

namespace rota::master::core {

/// The load formula's weights against each other; not all are 0.
struct LoadWeights {
  std::int32_t cpu = 40, memory = 30, slots = 30;
  std::int32_t sum() const { return cpu + memory + slots; }
  bool operator==(const LoadWeights&) const = default;
};

/// Owner: LifeEntry; WorkerTable alone changes it. Thread: the Scheduler's.
class WorkerFigures {
 public:
  /// Its node has come. It has been used as often as others (`uses`), and stands somewhere within its first
  /// weighted turn after `turn`: where, is another place in each Term.
  void begin(std::string_view id, std::uint64_t seed, std::int64_t uses, std::int64_t turn,
             std::int32_t weight) {
    load_.phase = static_cast<std::uint32_t>(mix(hash_of(id) ^ seed) >> 32);
    load_.uses = uses;
    const auto step = static_cast<std::uint64_t>(turn_of(weight));
    load_.turn = turn + static_cast<std::int64_t>((load_.phase * step) >> 32);
  }
  /// `takes_turns`: its route passes over workers with half a share every second time.
  void note_use(bool takes_turns) {
    ++load_.uses;
    load_.is_passed = load_.has_half && takes_turns;
  }
  /// It was passed over, which counts as a use.
  void note_pass() {
    ++load_.uses;
    load_.is_passed = false;
  }
  /// True: it changed.
  bool set_half(bool half) {
    load_.is_passed = false;
    return std::exchange(load_.has_half, half) != half;
  }
  bool has_half() const { return load_.has_half; }
  /// `turn`: how far its pool has come. A worker that was full makes up for some of its turns, and no more.
  void pass_turn(std::int32_t weight, std::int64_t& turn) {
    const std::int64_t step = turn_of(weight) * (load_.has_half ? 2 : 1);
    turn = std::max(turn, load_.turn);
    load_.turn = std::max(load_.turn, turn - kTurnsMadeUp * step) + step;
  }
  /// True: the orders must know it. Figures of hosts come from moments of their own, so small changes say
  /// nothing.
  /// `more`: slots that its attempts take beyond one each.
  bool note_vitals(const model::WorkerVitals& vitals, const LoadWeights& weights, std::int32_t slots,
                   std::int32_t more = 0) {
    const double points = double(weights.cpu * vitals.cpu_percent + weights.memory * vitals.memory_percent) /
                          weights.sum();
    const double used = std::clamp(double(vitals.running + more) / std::max(slots, 1), 0.0, 1.0);
    const double busy = 100.0 * weights.slots * used / weights.sum();
    busy_ = has_host_ ? busy_ + kNewest * (busy - busy_) : busy;
    host_ = has_host_ ? host_ + kNewest * (points - host_) : points;
    const bool is_known = std::exchange(has_host_, true);
    if (is_known && std::abs(host_ - load_.host_load) < kHostStep) return false;
    const auto steps = static_cast<std::int32_t>(std::lround(host_ / kHostStep));
    return std::exchange(load_.host_load, steps * kHostStep) != steps * kHostStep;
  }
  /// By other weights than the worker's own; 0 to 100.
  std::int32_t load_percent() const { return static_cast<std::int32_t>(std::lround(host_ + busy_)); }
  /// Other weights count: what was seen of the host is forgotten. Vitals follow.
  void weigh(const LoadWeights& weights) {
    has_host_ = false;
    load_.slot_points = static_cast<std::int32_t>(std::lround(100.0 * weights.slots / weights.sum()));
  }
  /// The same as note_vitals.
  bool note_answer(Millis took) {
    const double sample = std::clamp<double>(static_cast<double>(took.count()), 1, kSlowestMs);
    answer_ = answer_ > 0 ? answer_ + (sample < answer_ ? kFaster : kNewest) * (sample - answer_) : sample;
    const double before = load_.answer_ms;
    if (before > 0 && std::abs(answer_ - before) < std::max(1.0, before / 4)) return false;
    load_.answer_ms = static_cast<std::int32_t>(std::lround(answer_));
    return true;
  }
  double answer_ms() const { return answer_; }
  std::int64_t uses() const { return load_.uses; }
  /// Slots, rank and last use are not in it.
  const WorkerLoad& load() const { return load_; }

 private:
  static constexpr double kNewest = 0.3;       ///< what a new sample counts for
  static constexpr double kFaster = 0.5;       ///< of a slow worker, which is seldom measured
  static constexpr std::int32_t kHostStep = 5; ///< points
  static constexpr double kSlowestMs = 60'000;
  static constexpr std::int64_t kTurnsMadeUp = 16;

  WorkerLoad load_;
  double host_ = 0;                    ///< points, smoothed
  double busy_ = 0;                    ///< points of its slots, smoothed
  bool has_host_ = false;
  double answer_ = 0;                  ///< ms, smoothed; 0: not known
};

}  // namespace rota::master::core
