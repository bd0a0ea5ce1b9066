// What follows when an attempt was lost with its worker, by the job's word. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/time.h"
#include "common/model/job.h"

namespace rota::master::core {

enum class AfterLoss {
  Rerun,       ///< another attempt
  EndLost,     ///< none: the job allows none
  EndAtLimit,  ///< none: the job allows some, and they are used up
};

/// `losses`: of this run, with this one. A hand-over is no loss: it ends a run that must never be run again,
/// and otherwise another attempt follows, however many there were.
AfterLoss after_loss(const model::JobRules& rules, std::int32_t losses, bool handed_over);

/// The pause before the attempt that follows `losses` lost ones: none for the first three, then growing to a
/// minute, so that a job which takes its worker down cannot do so in a tight loop.
Millis loss_delay(std::int32_t losses);

/// "attempt 2 was lost with worker w1 (loss 2 of at most 3)".
std::string loss_text(std::int32_t attempt, const std::string& worker, std::int32_t losses,
                      std::int32_t most);

}  // namespace rota::master::core
