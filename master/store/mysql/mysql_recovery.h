// What a new Term starts from, read from MySQL: a few long queries, never one per job or run. Nobody
// writes meanwhile, since the epoch of the Term that reads is in force already.
#pragma once

#include <functional>
#include <memory>

#include "common/base/result.h"
#include "master/core/recovered.h"
#include "master/store/mysql/connection.h"
#include "master/store/mysql/content_cache.h"
#include "master/store/zone_source.h"

namespace rota::master::store {

using OpenConnection = std::function<Result<std::unique_ptr<Connection>>()>;

/// Reads on `another` connection too, where it can have one. Contents that are in `ahead` are not read.
/// Thread: that of the connection. Errors: those of Connection; Corrupt for a row that this program can
/// not read; Unsupported when this machine does not know the time zone of some job.
Result<core::Recovered> load_recovered(Connection& connection, const OpenConnection& another,
                                       const ZoneSource& zones, const ContentCache& ahead);

}  // namespace rota::master::store
