// Ticks that were recorded ahead of the clock are given back, by an operator's word: the watermark goes back
// to now, and what fired already keeps its run and fires no second time.
//
// It is done as a Term of its own that does nothing else: the command takes office, so that whoever leads is
// refused from then on, rewinds in one transaction under its epoch, and is gone; the masters take office
// again.
// So it is safe whether masters run or not, and a database that was rewound does not look like one that went
// back: its epoch is higher.
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

/// What becomes of one gap row that reaches beyond `to`: nothing, or the part up to then, counted anew. Pure.
std::optional<model::Gap> part_of_gap_until(const model::Gap& gap, const core::CompiledSchedule& schedule,
                                            WallTime to);

/// Rewinds to `now`. InvalidArgument: nothing is recorded ahead, or this host's clock differs from the
/// database's.
/// Conflict: others took office over and over. UnknownOutcome: ask again; twice is fine.
/// Thread: blocks for the deadlines of the client and the store.
Result<store::Rewind> rewind_ticks(const RewindParts& parts, const Candidate& candidate, WallTime now);

}  // namespace rota::master
