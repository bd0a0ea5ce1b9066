// Writes the rows of one batch inside a transaction that its caller began and fenced, in the same text.
#pragma once

#include "common/base/result.h"
#include "master/core/effect.h"
#include "master/store/mysql/batch_text.h"

namespace rota::master::store {

/// Adds everything in `changes` to what `batch` holds; the changes must stay as they are until it is
/// finished. Fails only for what can not be put into words. `by_content`: see write_changes.
Result<void> gather_changes(BatchText& batch, const core::Changes& changes, bool by_content);

/// Writes everything in `changes` behind what `batch` holds, and finishes it. Repeats are absorbed by the
/// unique keys; a key that another row holds is found out and told, never swallowed: AlreadyExists (another
/// run has this job and tick, or this principal and request key; another gap begins there; another job has
/// this name), NotFound (an update of a run or version that is not there), InvalidArgument (a value does not
/// fit). Then, and after every other error (see Connection), the caller drops the connection.
/// `by_content`: versions of saved jobs point at their definitions (contents.h).
Result<void> write_changes(BatchText& batch, const core::Changes& changes, bool by_content);

}  // namespace rota::master::store
