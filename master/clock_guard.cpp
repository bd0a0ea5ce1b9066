#include "master/clock_guard.h"

#include <algorithm>

namespace rota::master {

/// The database's clock goes on between two looks as the steady clock does.
WallTime ClockGuard::database_at(MonoTime now) const { return *database_ + floor_ms(now - seen_); }

WallTime ClockGuard::wall() const {
  std::scoped_lock lock(mutex_);
  const WallTime host = host_.wall();
  return database_ ? std::min(host, database_at(host_.mono()) + options_.tolerance) : host;
}

void ClockGuard::look(WallTime database, MonoTime before, MonoTime after) {
  if (after - before > options_.longest_look) return;
  std::scoped_lock lock(mutex_);
  database_ = database;
  seen_ = before + (after - before) / 2;
  skew_ = host_.wall() - database_at(host_.mono());
  const Millis apart = std::chrono::abs(skew_);
  apart_ = apart > (apart_ ? options_.near_again : options_.tolerance);
}

std::optional<Millis> ClockGuard::skew() const {
  std::scoped_lock lock(mutex_);
  return apart_ ? std::optional(skew_) : std::nullopt;
}

}  // namespace rota::master
