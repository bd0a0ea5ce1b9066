// All that a worker is told of one attempt: what the leader's dispatch carries.
#pragma once

#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/base/time.h"
#include "common/model/job.h"
#include "common/model/run.h"
#include "common/model/worker.h"

namespace rota::worker::desk {

/// Who sends a dispatch or a cancel, and to which life.
struct Envelope {
  Epoch epoch;
  model::WorkerKey to;
};

struct Order {
  model::AttemptKey key;
  JobId job;
  JobVersion version = 0;
  std::string job_name;
  std::string space;
  std::string kind;                ///< "tick", "manual", "one_off"
  std::optional<RunId> parent;     ///< of a child job's run: whose end began it
  std::string parent_state;        ///< how that ended
  std::optional<WallTime> tick;
  std::string schedule;            ///< names of the schedule's entries that were due
  WallTime scheduled{};
  Millis timeout{0};               ///< 0: none
  Millis kill_grace{10'000};
  Millis disconnect_grace{0};
  model::Demand demand;            ///< what it takes of the worker while it is here
  model::JobWork work;
  model::Parameters parameters;    ///< already laid over the job's
  std::optional<std::string> checkpoint;  ///< what an earlier attempt of the run saved last
};

/// The answer to one dispatched attempt.
struct OrderAnswer {
  model::AttemptKey key;
  model::Refusal refusal = model::Refusal::None;  ///< None: accepted
  std::string detail;
};

}  // namespace rota::worker::desk
