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
    "q.change_number, q.principal, q.attempt_timeout_ms, q.run_timeout_ms, q.queue_timeout_ms, "
    "q.min_workers, q.max_workers, q.hook";

/// Only the newest version of each stays, when this stands behind the columns and FROM.
inline constexpr std::string_view kNewestQuotas =
    "FROM quota q JOIN (SELECT side, name, MAX(version) AS newest FROM quota GROUP BY side, name) n "
    "ON n.side = q.side AND n.name = q.name AND n.newest = q.version";

/// What a new Term needs: those, and all versions of a namespace that ever had default times, since attempts
/// go by the version with which they were sent.
inline constexpr std::string_view kQuotasOfTerm =
    "FROM quota q JOIN (SELECT side, name, MAX(version) AS newest, "
    "MAX(attempt_timeout_ms + run_timeout_ms + queue_timeout_ms) AS times FROM quota GROUP BY side, name) n "
    "ON n.side = q.side AND n.name = q.name AND (n.newest = q.version OR n.times > 0) "
    "ORDER BY q.side, q.name, q.version";

/// A row that stands stays as it is: the same batch again.
void write_quotas(BatchText& batch, const std::vector<model::QuotaRow>& rows);

Result<model::QuotaRow> read_quota(Row& row);

}  // namespace rota::master::store
