// Child jobs as rows: what became of each name at the end of a run, and what is owed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/child.h"
#include "master/core/effect.h"
#include "master/store/mysql/batch_text.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Of the table under the alias c, for read_child.
inline constexpr std::string_view kChildColumns =
    "c.parent_id, c.name, c.named_by, c.root_id, c.depth, c.parent_state, c.made_ms, c.run_id, c.reason";
/// Of the table under the alias w, for read_owed.
inline constexpr std::string_view kOwedColumns =
    "w.parent_id, w.root_id, w.depth, w.parent_state, w.namespace, w.logical_ms, w.children";

void write_children(BatchText& batch, const core::Changes& changes);

Result<model::ChildRow> read_child(Row& row);
Result<model::OwedChildren> read_owed(Row& row);

}  // namespace rota::master::store
