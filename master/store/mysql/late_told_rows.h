// What is told once (late_told), and how long jobs take (job_pace), as rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/expect.h"
#include "master/core/effect.h"
#include "master/core/recovered.h"
#include "master/store/mysql/batch_text.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Of the table under the alias t, for read_late.
inline constexpr std::string_view kLateColumns =
    "t.job_id, t.run_id, t.tick_ms, t.what, t.worker, t.namespace, t.job_name, t.epoch, t.due_ms, t.told_ms, "
    "t.was, t.limit_ms";
/// Of the table under the alias p, for read_pace.
inline constexpr std::string_view kPaceColumns = "p.job_id, p.successes, p.lengths";

/// All that a batch says of them.
void write_late(BatchText& batch, const core::Changes& changes);

Result<model::LateRow> read_late(Row& row);
Result<model::JobPace> read_pace(Row& row);

/// What a new Term needs of them. `open_runs`: from_open_runs (kept_runs.h).
Result<void> load_told(Connection& connection, core::Recovered& recovered, const std::string& open_runs);

}  // namespace rota::master::store
