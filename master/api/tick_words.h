// What happened at a moment of a job, or will happen, as facts and as a sentence for people. Pure.
#pragma once

#include <optional>
#include <string>

#include "common/model/freeze.h"
#include "common/model/job.h"
#include "common/model/run.h"
#include "master/api/moment_words.h"

namespace rota::master::api {

/// What the store says about one moment of one job.
struct TickFacts {
  WallTime at{}, now{};
  std::optional<model::Run> run;       ///< of this tick
  std::optional<model::Gap> gap;       ///< that covers it
  std::optional<model::Freeze> freeze; ///< that covers it
  std::optional<RunId> made_up;        ///< stands for this frozen tick
  std::int64_t skipped_behind = 0;     ///< ticks that were skipped behind a run that has not ended yet
  bool is_planned = false;             ///< by the version that was, or is, valid then
  bool is_recorded = false;            ///< all ticks of the job are recorded so far
  bool is_known = true;                ///< false: retention may have deleted what happened
  model::JobState state = model::JobState::Enabled;
  std::string state_by;
  model::LatePolicy late = model::LatePolicy::FireOnce;
  std::optional<WallTime> next;        ///< the next planned tick
  MomentWords unready;                 ///< why the job could not fire then at all: paused, deleted ...
  MomentWords why;                     ///< why its schedule has no tick then
  MomentWords whose;                   ///< whose tick it is
};

struct TickWords {
  std::string what;                    ///< as thrift's TickAnswer says
  std::string sentence;
  std::string reason;                  ///< of a moment that is no tick: docs/schedules.md has them
};

TickWords words_for(const TickFacts& facts);

}  // namespace rota::master::api
