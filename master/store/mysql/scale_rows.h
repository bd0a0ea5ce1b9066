// Wanted numbers of workers as rows.
#pragma once

#include <string_view>

#include "common/base/result.h"
#include "common/model/scaling.h"
#include "master/core/effect.h"
#include "master/store/mysql/batch_text.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Of the table under the alias c, for read_scale_change.
inline constexpr std::string_view kScaleColumns =
    "c.id, c.pool, c.wanted_before, c.wanted_after, c.present, c.leaving, c.reason, c.hook, "
    "c.stoppable, c.made_ms, c.state, c.attempts, c.settled_ms, c.last_error";

/// Only the newest row of each pool stays, when this stands behind the columns and FROM.
inline constexpr std::string_view kNewestScaling =
    "FROM scale_change c JOIN (SELECT MAX(id) AS newest FROM scale_change GROUP BY pool) n "
    "ON n.newest = c.id ORDER BY c.id";

/// All that a batch says of scaling.
void write_scaling(BatchText& batch, const core::Changes& changes);

Result<model::ScaleChange> read_scale_change(Row& row);

}  // namespace rota::master::store
