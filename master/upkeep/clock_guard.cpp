#include "master/upkeep/clock_guard.h"

#include <algorithm>

namespace rota::master {

/// Both clocks of one moment; the rules hear of it, unless the process was stopped between the two.
Now ClockGuard::read() const {
  const MonoTime before = host_.mono();
  const WallTime wall = host_.wall();
  const Now now{wall, host_.mono()};
  if (now.mono - before <= options_.longest_reading) steps_.look(now);
  return now;
}

/// A database that stepped along with this host says nothing about how far ahead it may run; what it said
/// before still does: a clock that was too far ahead then would leap by what was withheld of it.
WallTime ClockGuard::wall() const {
  std::scoped_lock lock(mutex_);
  const Now now = read();
  const WallTime trusted = steps_.trusted(now);
  const auto& database = steps_.hold() && !database_elsewhere_ ? before_step_ : database_;
  return database ? std::min(trusted, database->at(now.mono) + options_.tolerance) : trusted;
}

void ClockGuard::set_database_elsewhere(bool elsewhere) {
  std::scoped_lock lock(mutex_);
  database_elsewhere_ = elsewhere;
}

void ClockGuard::look(WallTime database, MonoTime before, MonoTime after) {
  if (after - before > options_.longest_look) return;
  std::scoped_lock lock(mutex_);
  const Now now = read();
  database_ = {database, before + (after - before) / 2};
  if (!steps_.hold()) before_step_ = database_;
  steps_.hear("database", database, database_->seen, database_elsewhere_);
  skew_ = now.wall - database_->at(now.mono);
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
