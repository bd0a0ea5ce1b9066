// Ticks given back, on MySQL: what MysqlOffice, MysqlReader and recovery do of it on their connections.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "master/store/rewind.h"

namespace rota::master::store {

class Connection;

Result<std::vector<model::Gap>> load_gaps_beyond(Connection& connection, WallTime moment);

/// One transaction. Conflict: another epoch or watermark stands; nothing was done.
Result<void> write_rewind(Connection& connection, const Rewind& rewind);

/// Ticks beyond the watermark that have their run already. Costs next to nothing where none was rewound.
Result<std::vector<std::pair<JobId, WallTime>>> load_taken(Connection& connection,
                                                           std::optional<WallTime> watermark);

}  // namespace rota::master::store
