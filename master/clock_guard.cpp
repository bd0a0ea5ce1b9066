#include "master/clock_guard.h"

#include <algorithm>

namespace rota::master {

/// The database's clock goes on between two looks as the steady clock does.
WallTime ClockGuard::database_at(MonoTime now) const { return *database_ + floor_ms(now - seen_); }

/// Both clocks of one moment; the rules hear of it, unless the process was stopped between the two.
Now ClockGuard::read() const {
  const MonoTime before = host_.mono();
  const WallTime wall = host_.wall();
  const Now now{wall, host_.mono()};
  if (now.mono - before <= options_.longest_reading) steps_.look(now);
  return now;
}

/// A database that stepped along with this host says nothing about how far ahead it may run.
WallTime ClockGuard::wall() const {
  std::scoped_lock lock(mutex_);
  const Now now = read();
  const WallTime trusted = steps_.trusted(now);
  if (!database_ || (steps_.hold() && !database_elsewhere_)) return trusted;
  return std::min(trusted, database_at(now.mono) + options_.tolerance);
}

void ClockGuard::set_database_elsewhere(bool elsewhere) {
  std::scoped_lock lock(mutex_);
  database_elsewhere_ = elsewhere;
}

void ClockGuard::look(WallTime database, MonoTime before, MonoTime after) {
  if (after - before > options_.longest_look) return;
  std::scoped_lock lock(mutex_);
  const Now now = read();
  database_ = database;
  seen_ = before + (after - before) / 2;
  steps_.hear("database", database, seen_, database_elsewhere_);
  skew_ = now.wall - database_at(now.mono);
  const Millis apart = std::chrono::abs(skew_);
  apart_ = apart > (apart_ ? options_.near_again : options_.tolerance);
}

void ClockGuard::hear(const std::string& witness, WallTime said, MonoTime before, MonoTime after) {
  if (after - before > options_.longest_look) return;
  std::scoped_lock lock(mutex_);
  (void)read();
  steps_.hear(witness, said, before + (after - before) / 2);
}

void ClockGuard::accept() {
  std::scoped_lock lock(mutex_);
  (void)read();
  steps_.accept();
}

std::optional<Millis> ClockGuard::skew() const {
  std::scoped_lock lock(mutex_);
  return apart_ ? std::optional(skew_) : std::nullopt;
}

ClockDoubt ClockGuard::doubt() const {
  std::scoped_lock lock(mutex_);
  (void)read();
  return {apart_ ? std::optional(skew_) : std::nullopt, steps_.hold()};
}

}  // namespace rota::master
