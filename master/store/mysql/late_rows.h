// Rows that masters of before cannot read: freezes, and runs that wait to be caught up or stand for frozen
// ticks; runs of worker starts, and of child jobs. None is stored before every registered master can read
// them. Then the leader says in the epoch's row, under its own epoch, that they are needed; from then on the
// row refuses takeovers of masters that do not write their epoch into late_rows_read_by,
// worker_starts_read_by or child_runs_read_by, too.
#pragma once

#include <string_view>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Rows that came with one version of the masters.
struct NewerRows {
  std::string_view needed, read_by;    ///< columns of `epoch`
  std::string_view told;               ///< in the log, when they are first needed
};
inline constexpr NewerRows kLateRows{"late_rows_needed", "late_rows_read_by",
                                     "freezes may be stored from now on"};
inline constexpr NewerRows kWorkerStartRows{"worker_starts_needed", "worker_starts_read_by",
                                            "jobs may have @worker_start from now on"};

inline constexpr NewerRows kChildRunRows{"child_runs_needed", "child_runs_read_by",
                                         "jobs may name child jobs from now on"};

/// Whether they may be stored. Ask behind a takeover: then it does not change back.
Result<bool> are_known(Connection& connection, const NewerRows& rows);

/// They may be stored from now on. Fenced when another epoch is in force. The same again is harmless.
Result<void> need_rows(Connection& connection, const NewerRows& rows, Epoch epoch);

}  // namespace rota::master::store
