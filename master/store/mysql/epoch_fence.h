// The fence: what a transaction of a leader begins with, so that no successor can raise the epoch before it
// ends, and it sees a raised epoch.
//
// On one server this is a locking read of the epoch's row. On Galera a lock is local to its node and is not
// certified: a deposed leader on another node would still commit. So there each such transaction, and each
// check, changes the epoch's row: of two that were made at the same time, only one is committed, everywhere.
#pragma once

#include "common/base/ids.h"
#include "common/base/result.h"
#include "master/store/mysql/batch_text.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Inside a transaction that has begun. `visit` gets a row with the epoch in force and whether versions
/// point at contents (contents.h), if the table has one.
void add_fence(BatchText& batch, Visit visit);
/// The same, at once. Gives the epoch in force.
Result<Epoch> enter_fence(Connection& connection);
/// Outside a transaction, on a connection that allows many statements in a text: the epoch that was in force
/// at some moment after the call.
Result<Epoch> check_fence(Connection& connection);

}  // namespace rota::master::store
