// Semaphores as rows.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/semaphore.h"
#include "master/store/mysql/batch_text.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Of the table under the alias s, for read_semaphore.
inline constexpr std::string_view kSemaphoreColumns =
    "s.namespace, s.name, s.version, s.tokens, s.changed_ms, s.change_number, s.principal, s.deleted";

/// Only the newest version of each stays, when this stands behind the columns and FROM.
inline constexpr std::string_view kNewestSemaphores =
    "FROM semaphore s JOIN (SELECT namespace, name, MAX(version) AS newest FROM semaphore "
    "GROUP BY namespace, name) n ON n.namespace = s.namespace AND n.name = s.name AND n.newest = s.version";

/// A row that stands stays as it is: the same batch again.
void write_semaphores(BatchText& batch, const std::vector<model::SemaphoreRow>& rows);

Result<model::SemaphoreRow> read_semaphore(Row& row);

}  // namespace rota::master::store
