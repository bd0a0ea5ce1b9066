// Which state of a run may follow which. Pure.
//
//   from \ to   Waiting Queued Dispatched Running ends Cancelled
//   Waiting        x      x                        (a)    x
//   Queued         x      x        x               (a)    x
//   Dispatched     x                         x      x     x
//   Running        x                         x      x     x
//
// ends: Succeeded, Failed, TimedOut, Killed, KillFailed, Lost. (a): Succeeded, when the result of an attempt
// that was given up arrives before another one began; Skipped and Lost, when the worker start that the run
// belongs to is over; TimedOut, when its own time is. Nothing follows a final state.
#pragma once

#include "common/model/run.h"

namespace rota::master::core {

/// Whether a run may go from one state to the other.
constexpr bool may_follow(model::RunState from, model::RunState to) {
  using enum model::RunState;
  if (model::is_final(from)) return false;
  if (to == Cancelled) return true;
  const bool held = from == Dispatched || from == Running;
  switch (to) {
    case Waiting:
      return true;
    case Queued:
      return !held;
    case Dispatched:
      return from == Queued;
    case Running:
    case Failed:
    case Killed:
    case KillFailed:
      return held;
    case Skipped:
      return !held;
    case Lost:
    case TimedOut:
    case Succeeded:
      return true;
    default:
      return false;
  }
}

}  // namespace rota::master::core
