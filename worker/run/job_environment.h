// The environment of a job's process. Pure. Of the worker's own environment only what the
// allow list names is passed; then the job's settings; then who the attempt is (P30), which nobody overrides.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "worker/desk/order.h"

namespace rota::worker::run {

/// What every attempt of this worker shares.
struct EnvironmentBase {
  std::map<std::string, std::string> allowed;  ///< the variables of the allow list that are set
};

/// "ROTA_PARAM_" + the name in capitals, with '_' for all that is no letter or digit.
std::string parameter_variable(const std::string& name);

/// The descriptor on which a job may speak of its progress (worker/run/progress_lines.h).
inline constexpr int kProgressDescriptor = 3;
/// Longer checkpoints, and those with a NUL, come as a file alone.
inline constexpr std::size_t kMaxCheckpointVariable = 32u << 10;

/// "NAME=value" each, names in order. `folder` is the attempt's own work folder, `checkpoint_file` where
/// the order's checkpoint was put.
///   ROTA_RUN_ID ROTA_ATTEMPT ROTA_EPOCH (the fencing token) ROTA_JOB ROTA_JOB_ID ROTA_JOB_VERSION
///   ROTA_NAMESPACE ROTA_RUN_KIND ROTA_TICK_MS (ticks only) ROTA_SCHEDULE (ticks of entries only)
///   ROTA_SCHEDULED_MS ROTA_PARENT_RUN ROTA_PARENT_STATE (runs of child jobs only) ROTA_WORKER
///   ROTA_INCARNATION ROTA_WORK_FOLDER ROTA_PARAM_<NAME> ROTA_FD
///   ROTA_ZOOKEEPER ROTA_CLUSTER (what `rota` needs; these a job may override)
///   ROTA_CHECKPOINT (see above) ROTA_CHECKPOINT_FILE (with a checkpoint only)
std::vector<std::string> job_environment(const EnvironmentBase& base, const desk::Order& order,
                                         Epoch epoch, const model::WorkerKey& worker,
                                         const std::string& folder,
                                         const std::string& checkpoint_file = {});

/// Picks the variables of the allow list from "NAME=value" strings; a PATH is always there.
EnvironmentBase environment_base(const std::vector<std::string>& allow,
                                 const char* const* environment);

}  // namespace rota::worker::run
