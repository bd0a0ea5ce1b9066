// May another run of a job begin while others are unfinished? Pure.
#pragma once

#include <cstddef>

#include "common/model/job.h"
#include "common/model/run.h"

namespace rota::master::core {

struct OverlapChoice {
  enum class Kind { Fire, Wait, Skip };
  Kind kind = Kind::Fire;
  model::Reason reason = model::Reason::None;  ///< Skip: OverlapSkipped or QueueFull
};

/// `unfinished`: runs of the job that are not final, cut-off and waiting ones too. `waiting`: those of
/// them that wait for another. A cut-off attempt counts as running until its fence.
constexpr OverlapChoice decide_overlap(const model::JobRules& rules, std::size_t unfinished,
                                       std::size_t waiting) {
  using Kind = OverlapChoice::Kind;
  if (unfinished == 0 || rules.overlap == model::Overlap::Allow) return {};
  if (rules.overlap == model::Overlap::Skip) return {Kind::Skip, model::Reason::OverlapSkipped};
  if (waiting >= static_cast<std::size_t>(rules.queue_limit < 0 ? 0 : rules.queue_limit)) {
    return {Kind::Skip, model::Reason::QueueFull};
  }
  return {Kind::Wait, model::Reason::WaitsForRun};
}

}  // namespace rota::master::core
