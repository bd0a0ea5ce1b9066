// Which of the due ticks are recorded now: all of them, or, when that is too much for one batch, those up
// to an earlier moment, or, when one moment alone is too much, a part of a slice of time, job after job
// (watermark.h). Between the parts the loop does its other work. Ticks that became due after the slice, and
// those of jobs that fire often, are recorded ahead of it.
#pragma once

#include "master/core/state.h"

namespace rota::master::core {

/// Records due ticks, about `most` rows of them, and moves the watermark past them.
void fire_due(Context& ctx, std::int64_t most);

}  // namespace rota::master::core
