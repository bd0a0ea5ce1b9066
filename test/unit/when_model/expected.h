// What becomes of the ticks of one job that are recorded together, as docs/late.md says.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "plain.h"

namespace rota::when_model {

enum class Late { FireOnce, FireAll, Skip };
enum class Overlap { Skip, Queue, Allow };
enum class Why { Overlap, Coalesced, LateSkipped, LateBounded, Frozen, Edited };

struct Rules {
  Late late = Late::FireOnce;
  Ms grace = 60'000;
  Overlap overlap = Overlap::Allow;
  std::int64_t queue_limit = 100;
  std::int32_t firings = 0;
  bool until_success = false;
  std::int32_t pause_after = 0;
};

/// Runs of the job that have not ended.
struct Standing {
  std::int64_t begun = 0;     ///< those that wait for another too
  std::int64_t behind = 0;    ///< of them, those that wait for another
  std::int64_t late = 0;      ///< they wait to be caught up, and are in nobody's way
};

/// Not included are both ends.
struct Frozen {
  std::int64_t id = 0;
  Ms from = 0, end = 0;
  bool covers(Ms tick) const { return from < tick && tick < end; }
};

struct Expected {
  std::set<Ms> fired;
  std::map<Ms, Why> gaps;
  std::map<std::int64_t, std::vector<Ms>> frozen;  ///< by freeze
  std::optional<Ms> over;                          ///< the tick that was the last one
};

/// Decides on ticks in their order. Thread: one.
class Decision {
 public:
  /// `at`: when they are recorded. `fired`: firings that were counted before.
  Decision(const Rules& rules, Ms at, Standing& standing, std::int32_t& fired)
      : rules_(rules), at_(at), standing_(standing), fired_(fired) {}

  /// `ticks`: with how much later their runs start.
  Expected decide(const std::map<Ms, Ms>& ticks, const std::vector<Frozen>& freezes);

  static constexpr Ms kDecidedInTime = 2000;
  static constexpr std::int64_t kMostCaughtUp = 1000;

 private:
  void decide_open(const std::map<Ms, Ms>& ticks);
  void fire_all(const std::vector<Ms>& late, const std::map<Ms, Ms>& ticks);
  void fire_newest(const std::vector<Ms>& late, const std::map<Ms, Ms>& ticks);
  bool is_in_the_way() const;
  void record(Ms tick);
  void fire(Ms tick, bool is_late);

  const Rules& rules_;
  const Ms at_;
  Standing& standing_;
  std::int32_t& fired_;
  Expected out_;
};

}  // namespace rota::when_model
