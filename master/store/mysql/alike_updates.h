// Runs that one turn sends to one worker differ in nothing but their id: one UPDATE names them all, at
// half of what a row for each costs the server.
#pragma once

#include <string>
#include <vector>

#include "master/core/effect.h"
#include "master/store/mysql/batch_text.h"
#include "master/store/mysql/run_rows.h"

namespace rota::master::store {

/// Writes the progress of those updates (all without an outcome) that are alike, and takes them out of
/// `updates`. Repeating it is harmless. When the batch is finished, NotFound: some of the runs are not in the
/// store. The updates themselves must stand until then.
void write_alike(BatchText& batch, std::vector<const core::RunUpdate*>& updates);

/// Runs that succeeded and share what the form wants, with the end of its statement.
struct AlikeSuccesses {
  const AlikeForm* form;
  std::string tail;
  std::vector<const core::RunUpdate*> updates;
};
/// Takes the groups that are worth it out of `succeeded`. Pure.
std::vector<AlikeSuccesses> take_alike_successes(std::vector<const core::RunUpdate*>& succeeded);

}  // namespace rota::master::store
