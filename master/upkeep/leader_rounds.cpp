#include "master/upkeep/leader_rounds.h"

#include <utility>

#include "common/model/job.h"

namespace rota::master {

bool is_past(WallTime ended, Millis keep, Millis keep_by_default, WallTime now) {
  const Millis time = keep == Millis{0} ? keep_by_default : keep;
  const bool forever = time == Millis{0} || time == model::kKeepForEver;
  return !forever && ended + time <= now;
}

void LeaderRounds::start() {
  thread_ = std::jthread([this](std::stop_token stop) { loop(stop); });
}

void LeaderRounds::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void LeaderRounds::set_leading(bool leads) {
  {
    std::scoped_lock lock(mutex_);
    if (leads && !leads_) is_new_in_office_ = true;
    leads_ = leads;
  }
  changed_.notify_all();
}

void LeaderRounds::begin_anew() {
  {
    std::scoped_lock lock(mutex_);
    is_hurried_ = true;
  }
  changed_.notify_all();
}

void LeaderRounds::loop(std::stop_token stop) {
  Millis pause = first_pause_;
  while (!stop.stop_requested()) {
    bool is_new = false;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [this] { return leads_; })) return;
      changed_.wait_for(lock, stop, pause, [this] { return !leads_ || is_hurried_; });
      if (!leads_) continue;
      const bool is_hurried = std::exchange(is_hurried_, false);
      is_new = std::exchange(is_new_in_office_, false) || is_hurried;
    }
    if (stop.stop_requested()) return;
    if (is_new) work_.begin();
    pause = work_.round();
  }
}

}  // namespace rota::master
