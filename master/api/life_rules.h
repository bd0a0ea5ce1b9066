// The lives of a worker as people count them: one for each start of its process. A process whose session with
// ZooKeeper has ended registers again under another name and has a row of its own for that. Pure.
#pragma once

#include <vector>

#include "master/core/effect.h"
#include "master/core/snapshot.h"

namespace rota::master::api {

/// Rows of one worker id, in any order -> one for each process, the newest first, under its newest name.
/// `snapshot`: the leader's, which knows who is here; nullptr: not known. A life that a later one followed
/// has left, even when no leader saw it leave.
std::vector<core::WorkerLife> lives_of_processes(std::vector<core::WorkerLife> rows,
                                                 const core::Snapshot* snapshot);

}  // namespace rota::master::api
