// Runs that one turn sends to one worker differ in nothing but their id: one UPDATE names them all, at
// half of what a row for each costs the server.
#pragma once

#include <vector>

#include "master/core/effect.h"
#include "master/store/mysql/batch_text.h"

namespace rota::master::store {

/// Writes the progress of those updates (all without an outcome) that are alike, and takes them out of
/// `updates`. Repeating it is harmless. When the batch is finished, NotFound: some of the runs are not in the
/// store. The updates themselves must stand until then.
void write_alike(BatchText& batch, std::vector<const core::RunUpdate*>& updates);

}  // namespace rota::master::store
