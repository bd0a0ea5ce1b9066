// Why a leader holds its ticks, in words for people.
#pragma once

#include <string>

#include "master/upkeep/clock_guard.h"
#include "master/core/snapshot.h"

namespace rota::master {

/// Empty: nothing holds them. `restored`: the database went back, and nobody has accepted that yet.
/// `doubt`: the clock is too far from the database's, or it stepped. Pure.
std::string reason_to_hold(bool restored, const ClockDoubt& doubt);

/// Of that step alone, for who is asked to accept it. The words stay the same as long as the hold does.
std::string words_of(const ClockHold& hold);

/// "ok", or why ticks are held, in words that do not change from second to second. Null: it does not lead.
std::string ticks_word(const core::Snapshot* snapshot, WallTime now);

/// Ticks that are recorded ahead of the clock do not fire until the clock has reached them. The log says so
/// once, and once when it is over. Thread: one at a time.
class AheadNotice {
 public:
  void look(const core::Snapshot* snapshot, WallTime now);

 private:
  std::string told_;
};

}  // namespace rota::master
