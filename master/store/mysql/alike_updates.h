// Runs that one turn sends to one worker differ in nothing but their id: one UPDATE names them all, at
// half of what a row for each costs the server.
#pragma once

#include <vector>

#include "common/base/result.h"
#include "master/core/effect.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Writes the progress of those updates (all without an outcome) that are alike, and takes them out of
/// `updates`. Repeating it is harmless. NotFound: some of the runs are not in the store.
Result<void> write_alike(Connection& connection, std::vector<const core::RunUpdate*>& updates);

}  // namespace rota::master::store
