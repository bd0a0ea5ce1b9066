#include "master/store/runs_without_job.h"

#include <algorithm>
#include <vector>

#include "common/base/log.h"

namespace rota::master::store {

void leave_out_runs_without_job(core::Recovered& recovered) {
  const auto has_job = [&](const model::Run& run) {
    return std::ranges::binary_search(recovered.jobs, run.job, {},
                                      [](const core::RecoveredJob& job) { return job.job.id; });
  };
  const auto gone = std::stable_partition(recovered.runs.begin(), recovered.runs.end(), has_job);
  if (gone == recovered.runs.end()) return;
  log_error("store", "unfinished runs have no job in the database: was it restored? they stay as they are",
            {{"runs", recovered.runs.end() - gone}, {"first", gone->id.value}, {"job", gone->job.value}});
  recovered.runs.erase(gone, recovered.runs.end());
  recovered.database_went_back = true;
}

}  // namespace rota::master::store
