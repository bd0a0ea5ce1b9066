// Rows that masters of before cannot read: freezes, and runs that wait to be caught up or stand for frozen
// ticks. None is stored before every registered master can read them. Then the leader says in the epoch's
// row, under its own epoch, that they are needed; from then on the row refuses takeovers of masters that do
// not write their epoch into late_rows_read_by too.
#pragma once

#include "common/base/ids.h"
#include "common/base/result.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Whether they may be stored. Ask behind a takeover: then it does not change back.
Result<bool> are_late_rows_known(Connection& connection);

/// They may be stored from now on. Fenced when another epoch is in force. The same again is harmless.
Result<void> need_late_rows(Connection& connection, Epoch epoch);

}  // namespace rota::master::store
