// When an attempt lived, as rows tell, and whether two lived at the same time. Pure.
#pragma once

#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/run.h"

namespace rota::master::verify {

struct Span {
  AttemptNo attempt = 0;
  RunId run;
  WallTime from{};
  WallTime to{};
  std::string worker;    ///< whose clock said so; empty: a leader's said when it was over
  bool is_late = false;  ///< told after the run had been given up on, or by a database's loss forgotten
  std::optional<model::StoodStill> still = {};  ///< nothing of it ran then
};

/// How long before the end of the first the second began; none: they may have lived one after the other.
///
/// One worker's clock is believed to the millisecond; two clocks may differ, so what they say counts when
/// even that leaves no other reading. Attempts of one run live in the order of their numbers, so there only
/// the lower one's end and the higher one's start are compared; of any others either may have been first.
/// When an attempt died that its worker never told of is not known, only by when: that the next one waited
/// for that moment is the leader's doing, and of an attempt that a restored database has forgotten the leader
/// of then knew more.
std::optional<Millis> overlap(const Span& one, const Span& other);

}  // namespace rota::master::verify
