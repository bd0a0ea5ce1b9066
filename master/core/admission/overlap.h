// May another run of a job begin while others are unfinished? Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/model/job.h"
#include "common/model/run.h"

namespace rota::master::core {

/// A job's unfinished runs, in two parts. Those under way are past overlap: queued for a slot, at a worker,
/// cut off with one, or between two attempts. The others wait for one of these to end.
struct RunsNow {
  std::size_t under_way = 0;
  std::size_t waiting = 0;
  std::size_t ending = 0;              ///< of those under way: asked to end
};

struct OverlapChoice {
  /// Replace: it waits, those that wait so far end for it, and so do `ends` of those under way, oldest first.
  enum class Kind { Fire, Wait, Replace, Skip };
  Kind kind = Kind::Fire;
  model::Reason reason = model::Reason::None;  ///< Skip: OverlapSkipped or QueueFull
  std::size_t ends = 0;                ///< Replace: how many more of those under way must end
};

/// Whether one more may be under way. As many as `concurrency` says; an edit may have lowered it since.
constexpr bool has_place(const model::JobRules& rules, std::size_t under_way) {
  if (rules.overlap == model::Overlap::Allow) return true;
  return under_way < static_cast<std::size_t>(rules.concurrency < 1 ? 1 : rules.concurrency);
}

constexpr OverlapChoice decide_overlap(const model::JobRules& rules, const RunsNow& now) {
  using Kind = OverlapChoice::Kind;
  if (has_place(rules, now.under_way)) return {};
  switch (rules.overlap) {
    case model::Overlap::Allow: return {};
    case model::Overlap::Skip: break;
    case model::Overlap::Queue:
      if (now.waiting < static_cast<std::size_t>(rules.queue_limit < 0 ? 0 : rules.queue_limit)) {
        return {Kind::Wait, model::Reason::WaitsForRun};
      }
      return {Kind::Skip, model::Reason::QueueFull};
    case model::Overlap::QueueOne: return {Kind::Replace, model::Reason::WaitsForRun};
    case model::Overlap::Replace:
    case model::Overlap::Terminate: {
      const std::size_t stay = static_cast<std::size_t>(rules.concurrency < 1 ? 1 : rules.concurrency) - 1;
      const std::size_t must_end = now.under_way - stay;
      return {Kind::Replace, model::Reason::WaitsForRun, must_end > now.ending ? must_end - now.ending : 0};
    }
  }
  return {Kind::Skip, model::Reason::OverlapSkipped};
}

}  // namespace rota::master::core
