// Judges by rows what `timeout: run` and `queue` promise: no attempt begins when the time of its run is over,
// and no run ends for a time that its job does not limit. How long it was is not judged: within a Term that is
// counted by a steady clock, and rows have the wall's, which is set back at times.
#pragma once

#include <string>
#include <vector>

#include "common/model/job.h"
#include "common/model/quota.h"
#include "master/core/effect.h"
#include "marks.h"
#include "random.h"
#include "sim_tables.h"

namespace rota::sim {

void draw_limits(model::JobRules& rules, Random& dice);

/// A new attempt of this run is stored; `fresh`: rows of the same batch that are not in the tables yet. Empty,
/// or what is wrong.
std::string judge_begin(const SimTables& tables, const master::core::Changes& changes, const model::Run& run, Marks& marks);

/// It ends now. Empty, or what is wrong.
std::string judge_time(const SimTables& tables, const model::Run& run, Marks& marks);

/// A worker may let an attempt of such a job run so long (0: without a limit). `defaults`: what its namespace may have
/// said when it was sent. Empty, or what is wrong.
std::string judge_limit(const model::JobRules& rules, const std::vector<model::Quota>& defaults, Millis most);

/// What a namespace said from that version of its quota on; 0: from before the first.
std::vector<model::Quota> defaults_since(const SimTables& tables, const std::string& space, std::int32_t version);

}  // namespace rota::sim
