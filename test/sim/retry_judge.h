// Judges by rows what a retry rule promises: no attempt follows an end that `never` or `only` forbids, and
// none goes to the last worker where another one is required. The rules are those of draw_retry alone.
#pragma once

#include <string>
#include <vector>

#include "common/model/job.h"
#include "marks.h"
#include "random.h"
#include "sim_tables.h"

namespace rota::sim {

/// `has_others`: there is surely more than one worker, spare hosts of one id aside.
void draw_retry(model::JobDefinition& job, Random& dice, bool has_others);
/// Its route or handler has changed: where perhaps one worker alone may take its runs, no other one is required.
void keep_retry_possible(model::JobDefinition& job);

/// How an attempt that fails ends: always the same, so that nobody needs to remember it. 1 to 4.
std::int32_t exit_status_of(model::AttemptKey key);

/// A new attempt of this run is stored; `fresh`: rows of the same batch that are not in the tables yet. Empty,
/// or what is wrong.
std::string judge_retry(const SimTables& tables, const std::vector<model::AttemptRow>& fresh,
                        const model::Run& run, Marks& marks);

}  // namespace rota::sim
