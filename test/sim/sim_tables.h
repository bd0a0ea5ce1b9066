// The rows of the simulated database; a copy of them is a backup.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/model/job.h"
#include "common/model/run.h"
#include "common/model/worker.h"
#include "master/core/effect.h"

namespace rota::sim {

struct SimTables {
  /// A gap row that reaches past what was judged, and how much it was seen to cover.
  struct OpenGap {
    model::Gap row;
    std::int64_t covered = 0;
  };

  Epoch epoch;
  std::string cluster_uuid;
  Millis longest_grant{0};
  std::map<JobId, model::Job> jobs;
  std::map<std::pair<JobId, JobVersion>, model::JobVersionRow> versions;
  std::map<RunId, model::Run> runs;
  std::map<std::pair<JobId, WallTime>, RunId> ticks;
  std::map<std::pair<std::string, std::string>, RunId> keys;
  std::map<std::pair<RunId, AttemptNo>, model::AttemptRow> attempts;
  std::map<std::tuple<JobId, JobVersion, WallTime>, model::Gap> gaps;
  std::map<model::WorkerKey, master::core::WorkerLife> lives;
  std::map<RunId, model::RunNote> notes;
  std::map<std::string, model::WorkerDrain> drains;
  std::optional<WallTime> watermark;
  std::optional<WallTime> judged_through;   ///< every tick up to here was found exactly once
  std::vector<OpenGap> open_gaps;
};

}  // namespace rota::sim
