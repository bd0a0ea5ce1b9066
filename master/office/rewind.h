// Gives back ticks that were recorded ahead of the clock, when an operator asks for it: the watermark goes
// back to now. A tick that has already fired keeps its run and does not fire again.
//
// This is a Term of its own that does nothing else. The command takes office, so that the leader is refused
// from then on, rewinds in one transaction under its epoch, and ends. Then the masters take office again.
// So it is safe whether masters run or not. A database that was rewound does not look like one that went
// back, because its epoch is higher.
#pragma once

#include "common/base/result.h"
#include "common/base/time.h"
#include "common/zk/client.h"
#include "common/zk/paths.h"
#include "master/core/time/schedule.h"
#include "master/store/reader.h"
#include "master/store/store.h"
#include "master/store/zone_source.h"
#include "master/office/takeover.h"

namespace rota::master {

/// What it works with; all outlive the call.
struct RewindParts {
  zk::Client& client;
  const zk::Paths& paths;
  store::Office& office;
  store::Reader& reader;
  store::ZoneSource zones;
};

/// What is left of one gap row that reaches beyond `to`: nothing, or the part up to then, counted again.
/// Pure.
std::optional<model::Gap> part_of_gap_until(const model::Gap& gap, const core::CompiledSchedule& schedule,
                                            WallTime to);

/// Rewinds to `now`. InvalidArgument: nothing is recorded ahead, or this host's clock differs from the
/// database's.
/// Conflict: others took office over and over. UnknownOutcome: ask again; twice is fine.
/// Thread: blocks for the deadlines of the client and the store.
Result<store::Rewind> rewind_ticks(const RewindParts& parts, const Candidate& candidate, WallTime now);

}  // namespace rota::master
