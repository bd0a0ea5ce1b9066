// What the store does when ticks that were recorded ahead of the clock are given back.
#pragma once

#include <vector>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/run.h"

namespace rota::master::store {

/// All jobs' ticks in (to, from] will be recorded again, except those that have a run.
struct Rewind {
  Epoch epoch;                      ///< that does it
  WallTime from{};                  ///< the watermark as it stands, with the slice that is under way
  WallTime from_through{};          ///< and without
  WallTime to{};                    ///< and as it is to stand
  std::vector<model::Gap> erased;   ///< of ticks beyond `to` alone
  std::vector<model::Gap> cut;      ///< that reach beyond `to`: as they are to be
};

/// One that was done, as verification and recovery want it.
struct PastRewind {
  Epoch epoch;
  WallTime from{};                  ///< how far any job was recorded: some farther than the watermark said
  WallTime to{};
  auto operator<=>(const PastRewind&) const = default;

  /// A run that fired before it, of a tick that it gave back: it keeps its tick.
  bool keeps(Epoch run_epoch, WallTime tick) const { return run_epoch < epoch && tick > to && tick <= from; }
};

}  // namespace rota::master::store
