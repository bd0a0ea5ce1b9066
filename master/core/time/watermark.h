// How far ticks are recorded. Most of the time this is one moment for all jobs. When more ticks are due than
// one batch may hold, they are recorded as a slice of time, job after job, over many batches:
//
//   through    every job is recorded so far
//   reaching   jobs with ids <= job are recorded so far: the end of the slice that is under way
//   job        the last one that the slice has passed
//
// A job may be ahead of both: an edit records its older version up to the edit, and what is due while a
// slice is under way is recorded with the job's own row (model::Job::ticks_through).
#pragma once

#include <compare>

#include "common/base/ids.h"
#include "common/base/time.h"

namespace rota::master::core {

/// A value. Within a cluster it only grows, in this order of its parts.
struct Watermark {
  WallTime through{};
  WallTime reaching{};  ///< = through, and no job, while no slice is under way
  JobId job;

  Watermark() = default;
  Watermark(WallTime all) : through(all), reaching(all) {}  // one moment for all jobs is a watermark
  /// From what is stored. A master that knows nothing of slices may have left an old slice there: it is none.
  Watermark(WallTime all, WallTime slice_end, JobId last)
      : through(all), reaching(slice_end > all ? slice_end : all), job(slice_end > all ? last : JobId{}) {}

  bool is_parted() const { return reaching > through; }
  /// Through which moment this job's ticks are recorded at least.
  WallTime of(JobId id) const { return id <= job ? reaching : through; }

  auto operator<=>(const Watermark&) const = default;
};

}  // namespace rota::master::core
