// Two kinds of time that never mix: WallTime for schedules and records, MonoTime for deadlines and
// leases. MonoTime runs on CLOCK_BOOTTIME, so a suspended host does not stretch a lease.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>

namespace rota {

using Millis = std::chrono::milliseconds;
using Micros = std::chrono::microseconds;

/// A moment of civil time in UTC, to the millisecond.
using WallTime = std::chrono::sys_time<Millis>;

/// CLOCK_BOOTTIME as a chrono clock.
struct BootClock {
  using duration = Micros;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<BootClock, duration>;
  static constexpr bool is_steady = true;
  static time_point now() noexcept;
};

/// A moment for deadlines; valid only on this host, since its last boot.
using MonoTime = BootClock::time_point;

/// Both clock readings of one moment, as the pure parts receive them.
struct Now {
  WallTime wall{};
  MonoTime mono{};
};

constexpr std::int64_t to_ms(WallTime t) { return t.time_since_epoch().count(); }
constexpr WallTime wall_from_ms(std::int64_t ms) { return WallTime{Millis{ms}}; }
constexpr Millis floor_ms(Micros d) { return std::chrono::floor<Millis>(d); }

/// The source of time for shells. Thread: any.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual WallTime wall() const = 0;
  virtual MonoTime mono() const = 0;
  Now now() const { return Now{wall(), mono()}; }
};

/// The machine's clocks.
class SystemClock final : public Clock {
 public:
  WallTime wall() const override;
  MonoTime mono() const override;
};

/// A clock that tests move by hand. Thread: any.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(WallTime wall = wall_from_ms(1'700'000'000'000)) : wall_(wall) {}
  WallTime wall() const override;
  MonoTime mono() const override;
  /// Moves both clocks forward.
  void advance(Millis by);
  /// Moves only the wall clock, as an administrator or NTP would.
  void jump_wall(Millis by);

 private:
  mutable std::mutex mutex_;
  WallTime wall_;
  MonoTime mono_{std::chrono::seconds{1000}};
};

}  // namespace rota
