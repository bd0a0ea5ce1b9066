// When a worker gets less, or nothing: its signs in, words out. Pure; hold_rules beside it applies them.
//
//   state        what it gets          how it comes there, and how it leaves
//   REGISTERING  nothing               here, and has not yet said what it holds (or is let in later: a crowd)
//   ONLINE       its share             -
//   BUSY         its share             a label: no slot is free
//   WARNING      half of its share     silent, slow, loaded, unwell, its clock is off, or nearly excluded
//   DRAINING     nothing               by an operator, or because it stops
//   EXCLUDED     nothing, then one     3 jobs failed here and succeeded elsewhere; a trial ends it
//                attempt at a time
//   FLAPPING     nothing               4 lives within 10 minutes; time ends it
//   OFFLINE      nothing               its node is gone, and it does not answer
//   DEAD         nothing               offline for 10 minutes (workers.dead_after_ms)
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "common/model/worker_hold.h"

namespace rota::master::core {

/// During a trial: that failed here and succeeded elsewhere.
inline constexpr std::size_t kJobsOnTrial = 1;
inline constexpr int kHoldGrows = 10;              ///< the longest hold, in first ones
inline constexpr Millis kCrowdSpread{5000};        ///< over which a crowd of workers is let in

/// At most a third of a pool is left out at once. `here`: workers that are registered and not drained, with
/// those that are left out.
inline bool may_leave_out_more(std::size_t here, std::size_t left_out) { return left_out + 1 <= here / 3; }
/// How many of those that are left out must be let in again, since others went.
inline std::size_t left_out_too_many(std::size_t here, std::size_t left_out) {
  return left_out > here / 3 ? left_out - here / 3 : 0;
}

/// The first hold lasts `first`, each one after it in a row twice as long, up to kHoldGrows times the first.
Millis hold_time(Millis first, std::int32_t strikes);

/// So many other workers must lose a life at about the same time for a loss to say nothing about one.
inline std::size_t crowd_of(std::size_t here) { return here / 5 < 2 ? 2 : here / 5; }

/// How long a worker that came back waits before it is let in. `came`: workers of its pool that came back
/// within kCrowdSpread, with this one. The first `crowd` do not wait.
Millis crowd_wait(std::size_t came, std::size_t crowd, std::uint64_t lot);

/// What is seen of a worker now.
struct WorkerSigns {
  bool is_silent = false;              ///< it missed three beats
  double answer_ms = 0;                ///< how fast it accepts attempts; 0: not known
  Millis slow_answer{2000};            ///< more than this is slow
  std::int32_t load_percent = 0;       ///< by the load formula
  std::int32_t load_most = 90;         ///< more than this is too much
  std::string health = "ok";           ///< of its self check
  Millis clock_offset{0};              ///< its clock less the leader's
  Millis clock_off_most{1000};
  std::string accused;                 ///< why it would be excluded, if others were not already
};

/// Why it gets half of its share; empty: it does not. `was`: it did until now, so limits are lower.
std::string warning_words(const WorkerSigns& signs, bool was);

/// "excluded for 60s: 3 jobs failed here and succeeded elsewhere: a, b, c"
std::string excluded_words(const std::vector<std::string>& jobs);
std::string flapping_words(int lives);

/// The steps by which people are told how long a worker is away. They rise.
struct AwayBands {
  Millis first{60'000}, second{120'000}, third{600'000};
};

/// How long it is away, for people: "60s", "120s", "10m" or nothing.
std::string away_band(Millis away, const AwayBands& bands = {});

/// A worker's clock less the leader's, from the times that it sent and the leader received. A delay on the
/// way makes it seem too far behind, so the highest of the last few counts.
class ClockOffset {
 public:
  void note(Millis sample) {
    samples_[next_] = sample;
    next_ = (next_ + 1) % kKept;
    if (count_ < kKept) ++count_;
  }
  bool is_known() const { return count_ > 0; }
  Millis best() const {
    Millis best = Millis{0};
    for (std::size_t i = 0; i < count_; ++i) {
      if (i == 0 || samples_[i] > best) best = samples_[i];
    }
    return best;
  }

 private:
  static constexpr std::size_t kKept = 4;
  Millis samples_[kKept]{};
  std::size_t next_ = 0, count_ = 0;
};

}  // namespace rota::master::core
