// Limits of pools and namespaces as rows.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/quota.h"
#include "master/store/mysql/batch_text.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Of the table under the alias q, for read_quota.
inline constexpr std::string_view kQuotaColumns =
    "q.side, q.name, q.version, q.slots, q.weight, q.jobs, q.unfinished, q.firings, q.changed_ms, "
    "q.change_number, q.principal";

/// Only the newest version of each stays, when this stands behind the columns and FROM.
inline constexpr std::string_view kNewestQuotas =
    "FROM quota q JOIN (SELECT side, name, MAX(version) AS newest FROM quota GROUP BY side, name) n "
    "ON n.side = q.side AND n.name = q.name AND n.newest = q.version";

/// A row that stands stays as it is: the same batch again.
void write_quotas(BatchText& batch, const std::vector<model::QuotaRow>& rows);

Result<model::QuotaRow> read_quota(Row& row);

}  // namespace rota::master::store
