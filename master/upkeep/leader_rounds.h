// Work in rounds, on a thread of its own, while this master leads: what retention does.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "common/base/time.h"

namespace rota::master {

inline constexpr Millis kPauseAfterBadRound{5000};

/// Whether what ended then was kept long enough. `keep` is what the job says; 0: it says nothing. Pure.
bool is_past(WallTime ended, Millis keep, Millis keep_by_default, WallTime now);

/// Owner: who does the rounds; it stops them before it goes.
class LeaderRounds {
 public:
  struct Work {
    std::function<void()> begin;     ///< called first in each time in office
    std::function<Millis()> round;   ///< one round; gives the pause before the next
  };
  /// `pause`: before the first round.
  LeaderRounds(Work work, Millis pause) : work_(std::move(work)), first_pause_(pause) {}
  ~LeaderRounds() { stop(); }

  void start();
  void stop();
  /// Any thread; never waits.
  void set_leading(bool leads);
  /// The next round begins anew, and soon: something else is to be done. Any thread; never waits.
  void begin_anew();

 private:
  void loop(std::stop_token stop);

  const Work work_;
  const Millis first_pause_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool leads_ = false;
  bool is_new_in_office_ = false;
  bool is_hurried_ = false;
  std::jthread thread_;
};

}  // namespace rota::master
