// Virtual time: what happens when, in one order for one seed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "common/base/time.h"

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

/// The clock of one process: virtual time, with a wall clock that may be off.
class SkewedClock final : public Clock {
 public:
  explicit SkewedClock(const Clockwork& clockwork) : clockwork_(clockwork) {}
  WallTime wall() const override { return clockwork_.true_wall() + skew; }
  MonoTime mono() const override { return clockwork_.now(); }
  Millis skew{0};

 private:
  const Clockwork& clockwork_;
};

}  // namespace rota::sim
