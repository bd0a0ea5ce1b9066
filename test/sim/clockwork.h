// Virtual time: what happens when, in one order for one seed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "common/base/time.h"
#include "random.h"

namespace rota::sim {

/// Thread: one.
class Clockwork {
 public:
  using Deed = std::function<void()>;

  MonoTime now() const { return now_; }
  WallTime true_wall() const {
    return wall_from_ms(1'700'000'000'000) + std::chrono::floor<Millis>(now_ - MonoTime{});
  }
  void after(Millis delay, Deed deed) { queue_.emplace(std::pair{now_ + delay, ++serial_}, std::move(deed)); }
  /// Does the next deed; false when there is none before `end`.
  bool step(MonoTime end) {
    if (queue_.empty() || queue_.begin()->first.first > end) return false;
    auto next = queue_.extract(queue_.begin());
    now_ = next.key().first;
    ++deeds_;
    next.mapped()();
    return true;
  }
  std::int64_t deeds() const { return deeds_; }

 private:
  MonoTime now_{std::chrono::seconds{1000}};
  std::uint64_t serial_ = 0;
  std::int64_t deeds_ = 0;
  std::map<std::pair<MonoTime, std::uint64_t>, Deed> queue_;
};

/// The clocks of one host: a wall clock that may be off, jump and drift away, and a monotonic one with a
/// beginning and, a little, a rate of its own.
class SkewedClock final : public Clock {
 public:
  explicit SkewedClock(const Clockwork& clockwork) : clockwork_(clockwork) {}
  WallTime wall() const override {
    const Millis since = std::chrono::floor<Millis>(clockwork_.now() - drift_from_);
    return clockwork_.true_wall() + skew + since * drift_per_mille_ / 1000;
  }
  MonoTime mono() const override {
    return began_ + (clockwork_.now() - booted_) * (1000 + rate_per_mille_) / 1000;
  }
  /// How long this host's span lasts in truth.
  Millis true_span(Micros span) const {
    return std::chrono::ceil<Millis>(span * 1000 / (1000 + rate_per_mille_));
  }
  /// The host starts: its monotonic clock begins anew.
  void boot(Random& dice) {
    booted_ = clockwork_.now();
    began_ = MonoTime{} + dice.between(Millis{1000}, Millis{1'000'000'000});
  }
  void set_rate(int per_mille) { rate_per_mille_ = per_mille; }
  void drift(int per_mille) {
    drift_per_mille_ = per_mille;
    drift_from_ = clockwork_.now();
  }
  void mend() {
    skew = base_;
    drift_per_mille_ = 0;
  }
  /// How far off it is when nothing is wrong with it.
  void set_base(Millis base) { skew = base_ = base; }
  Millis skew{0};

 private:
  const Clockwork& clockwork_;
  Millis base_{0};
  int drift_per_mille_ = 0;
  int rate_per_mille_ = 0;
  MonoTime drift_from_{};
  MonoTime booted_{};
  MonoTime began_{};
};

}  // namespace rota::sim
