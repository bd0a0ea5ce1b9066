// Holds of workers as rows.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/worker_hold.h"
#include "master/store/mysql/batch_text.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Of the table under the alias h, for read_hold.
inline constexpr std::string_view kHoldColumns =
    "h.hold_number, h.worker_id, h.pool, h.kind, h.strikes, h.since_ms, h.until_ms, h.trial_ms, "
    "h.ended_ms, h.why";

/// Inserted, or what has changed since is set: trial and end.
void write_holds(BatchText& batch, const std::vector<model::WorkerHold>& rows);

Result<model::WorkerHold> read_hold(Row& row);

}  // namespace rota::master::store
