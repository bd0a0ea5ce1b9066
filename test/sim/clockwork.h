// Virtual time: runs the deeds of a world in one order for one seed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

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
  void after(Millis delay, Deed deed) {
    std::size_t place = deeds_to_do_.size();
    if (free_.empty()) {
      deeds_to_do_.push_back(std::move(deed));
    } else {
      place = free_.back();
      free_.pop_back();
      deeds_to_do_[place] = std::move(deed);
    }
    queue_.push_back({now_ + delay, ++serial_, place});
    std::push_heap(queue_.begin(), queue_.end());
  }
  /// Runs the next deed; false when there is none before `end`.
  bool step(MonoTime end) {
    if (queue_.empty() || queue_.front().at > end) return false;
    std::pop_heap(queue_.begin(), queue_.end());
    const Planned next = queue_.back();
    queue_.pop_back();
    const Deed deed = std::exchange(deeds_to_do_[next.place], {});
    free_.push_back(next.place);
    now_ = next.at;
    ++deeds_;
    deed();
    return true;
  }
  std::int64_t deeds() const { return deeds_; }
  /// How far off the clocks are of the host that the masters and the database share, if they share one.
  Millis common_step{0};

 private:
  struct Planned {
    MonoTime at{};
    std::uint64_t serial = 0;
    std::size_t place = 0;     ///< index of the deed
    /// A heap puts the greatest first.
    bool operator<(const Planned& other) const { return std::tie(other.at, other.serial) < std::tie(at, serial); }
  };

  MonoTime now_{std::chrono::seconds{1000}};
  std::uint64_t serial_ = 0;
  std::int64_t deeds_ = 0;
  std::vector<Planned> queue_;
  std::vector<Deed> deeds_to_do_;
  std::vector<std::size_t> free_;
};

/// The clocks of one host: a wall clock that may be off, jump and drift, and a monotonic clock with a start and
/// a slightly wrong rate of its own.
class SkewedClock final : public Clock {
 public:
  explicit SkewedClock(const Clockwork& clockwork) : clockwork_(clockwork) {}
  WallTime wall() const override {
    const Millis since = std::chrono::floor<Millis>(clockwork_.now() - drift_from_);
    return clockwork_.true_wall() + (shares_host_ ? clockwork_.common_step : Millis{0}) + skew + since * drift_per_mille_ / 1000;
  }
  MonoTime mono() const override {
    return began_ + (clockwork_.now() - booted_) * (1000 + rate_per_mille_) / 1000;
  }
  /// The true length of a time span of this host.
  Millis true_span(Micros span) const {
    return std::chrono::ceil<Millis>(span * 1000 / (1000 + rate_per_mille_));
  }
  /// The host starts: its monotonic clock starts again.
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
  /// It steps with the database's clock.
  void share_host() { shares_host_ = true; }
  /// How far off it is without a fault.
  void set_base(Millis base) { skew = base_ = base; }
  Millis skew{0};

 private:
  const Clockwork& clockwork_;
  Millis base_{0};
  bool shares_host_ = false;
  int drift_per_mille_ = 0;
  int rate_per_mille_ = 0;
  MonoTime drift_from_{};
  MonoTime booted_{};
  MonoTime began_{};
};

}  // namespace rota::sim
