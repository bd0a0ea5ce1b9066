// How far a verification got, as a word that a later one goes on from. Pure.
#pragma once

#include <string>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/time.h"

namespace rota::master::verify {

/// What P7 must know of the runs before: when the last of older epochs was recorded, and the first and the
/// last of the one that it is at.
struct EpochMarks {
  Epoch epoch;
  WallTime older_last{};
  WallTime first{};
  WallTime last{};
  bool operator==(const EpochMarks&) const = default;
};

/// First the ticks job by job, then the runs in the order of their ids.
struct Place {
  bool is_at_runs = false;
  JobId job;                          ///< the last one that was looked at
  RunId run;
  EpochMarks epochs;
  bool operator==(const Place&) const = default;
};

/// "jobs:JOB", or "runs:RUN:EPOCH:OLDER_LAST:FIRST:LAST".
std::string text_of(const Place& place);
/// The beginning for an empty text. InvalidArgument.
Result<Place> place_from(const std::string& text);

}  // namespace rota::master::verify
