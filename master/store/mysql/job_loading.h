// Jobs as a takeover reads them: a million of them in a few seconds. The rows of `job` and those of
// `job_version` are read in the order of their keys, on two connections at once, and put together here: the
// server would look each version up by itself, which takes it three times as long. What versions point at
// (contents.h) is read behind them, each once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "master/core/recovered.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/content_cache.h"
#include "master/store/zone_source.h"

namespace rota::master::store {

/// Another connection, and the epoch that it must find in force: it may lead to another server, which lags.
struct SecondConnection {
  std::function<Result<std::unique_ptr<Connection>>()> open;
  Epoch epoch;
};

struct JobSources {
  SecondConnection second;
  const ZoneSource& zones;
  const ContentCache& ahead;  ///< what is known already
};

/// Saved jobs, and those of no name any more (one-offs, deleted) that still have unfinished runs: the rows
/// of `open_runs` (kept_runs.h). Ordered by id. Without the second connection all is read on the first.
/// Thread: that of the connection. Errors: those of Connection; Corrupt and Unsupported as load_recovered.
Result<std::vector<core::RecoveredJob>> load_jobs(Connection& connection, const JobSources& sources,
                                                  const std::string& open_runs);

}  // namespace rota::master::store
