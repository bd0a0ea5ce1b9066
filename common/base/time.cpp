#include "common/base/time.h"

#include <ctime>

namespace rota {

BootClock::time_point BootClock::now() noexcept {
  timespec ts{};
  clock_gettime(CLOCK_BOOTTIME, &ts);
  return time_point{std::chrono::seconds{ts.tv_sec} + Micros{ts.tv_nsec / 1000}};
}

WallTime SystemClock::wall() const {
  return std::chrono::floor<Millis>(std::chrono::system_clock::now());
}

MonoTime SystemClock::mono() const { return BootClock::now(); }

WallTime FakeClock::wall() const {
  std::scoped_lock lock(mutex_);
  return wall_;
}

MonoTime FakeClock::mono() const {
  std::scoped_lock lock(mutex_);
  return mono_;
}

void FakeClock::advance(Millis by) {
  std::scoped_lock lock(mutex_);
  wall_ += by;
  mono_ += by;
}

void FakeClock::jump_wall(Millis by) {
  std::scoped_lock lock(mutex_);
  wall_ += by;
}

}  // namespace rota
