// What is stored of the ticks of many jobs, read in a few questions.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "common/base/result.h"
#include "master/store/reader.h"

namespace rota::master::verify {

/// Of one job.
struct TickRows {
  std::vector<model::JobVersionRow> versions;      ///< by valid_from
  std::optional<WallTime> gone_through;
  std::optional<std::vector<model::Gap>> gaps;     ///< none: too many for one question, to be asked alone
  std::optional<std::vector<model::Run>> runs;     ///< by tick, also beyond the watermark; none: likewise
};

/// Of all these jobs (in order), with the runs of ticks beyond `after`. What retention deletes meanwhile, it
/// tells first: that is asked first here, and again for what is missing.
Result<std::map<JobId, TickRows>> read_tick_rows(store::Reader& reader, const std::vector<JobId>& jobs,
                                                 WallTime after);

}  // namespace rota::master::verify
