// When the wall clock is not to be believed: it moved against the steady clock by more than a slew can. Which
// of the two moments is right only a clock on another host can tell (a witness), its own return, or the
// operator. Until then the clock of before goes on, by the steady one, and ticks and deletions by age wait.
//
//   step                                          what comes of it
//   towards the witnesses, as heard before it     nothing (a machine that has booted, or was resumed)
//   any other                                     a hold, which ends when
//                                                   the clock is back where it was,
//                                                   most witnesses agree with it, one of them for 60 s, or
//                                                   the operator accepts it
//   none, but a new process whose first           a hold as after a step away from theirs
//     witnesses say something else
//
// A witness whose own clock has just moved is not believed at once either: two hosts may have asked the same
// wrong time server, one a moment after the other. Then its minute of agreement counts, as ever.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "common/base/time.h"

namespace rota::master {

struct ClockStepOptions {
  Millis step{2000};             ///< farther than this within the window is no slew
  Millis near_again{1500};       ///< as near as this is the same
  Millis window{60'000};
  Millis agree_for{60'000};      ///< so long a witness must agree with a clock that stepped
  Millis sample_every{1000};
  Millis silent_after{15'000};   ///< who was heard of longer ago says nothing of the clock as it is
  Millis remembered{300'000};    ///< but still which way a step went
};

/// A clock that stepped and is not believed yet.
struct ClockHold {
  Millis by{0};                  ///< how far ahead it is of where it was (negative: behind)
  WallTime since{};              ///< by the clock of before
  bool has_witness = false;      ///< somebody on another host could confirm it
  bool is_new = false;           ///< no step was seen: the witnesses have always said something else
};

/// Pure: all readings come in. Thread: one at a time.
class ClockSteps {
 public:
  explicit ClockSteps(const ClockStepOptions& options = {}) : options_(options) {}

  /// One reading of this host's two clocks, taken at one moment.
  void look(Now host);
  /// What another clock said at that moment of our steady clock; look() comes first. One that may be this
  /// host's own (not `elsewhere`) tells only which way a step went, where the two were apart before.
  void hear(const std::string& witness, WallTime said, MonoTime at, bool elsewhere = true);
  /// The operator's word for the clock as it was seen last.
  void accept();

  /// The wall clock to go by at this reading.
  WallTime trusted(Now host) const;
  std::optional<ClockHold> hold() const;

 private:
  struct Sample {
    MonoTime at{};
    Micros offset{0};            ///< of the wall clock from the steady one
  };
  struct Witness {
    Sample last;
    bool elsewhere = true;
    std::optional<MonoTime> moved;           ///< when its own newest step was heard
    std::optional<MonoTime> agrees_since;    ///< with our clock as it is, within the present hold
  };
  struct Votes {
    int agree = 0, differ = 0, agree_long = 0;
    bool confirm() const { return agree > 0 && agree >= differ; }
  };

  bool is_near(Micros a, Micros b) const;
  std::optional<Micros> stepped_from() const;
  void keep_sample(const Sample& sample);
  void step_seen(Micros before);
  void settle();
  void end_if_confirmed();
  bool is_fresh(const Witness& witness) const { return now_.at - witness.last.at <= options_.silent_after; }
  Votes votes_before_step() const;
  Votes votes_now() const;

  const ClockStepOptions options_;
  Sample now_;                               ///< as seen last
  std::deque<Sample> samples_;               ///< of the window, the oldest first
  std::optional<MonoTime> first_;            ///< when the first was taken
  bool is_proven_ = false;                   ///< a witness has agreed, or enough was seen
  std::map<std::string, Witness> witnesses_;

  bool held_ = false;
  bool is_new_ = false;
  Micros before_{0};                         ///< held: where the clock was
  MonoTime held_since_{};
};

}  // namespace rota::master
