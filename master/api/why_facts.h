// Facts for the checks of why_rules.h: from the store, a few rows by key each, and from the leader's last
// snapshot.
#pragma once

#include <vector>

#include "why_types.h"
#include "master/api/why_rules.h"
#include "master/core/snapshot.h"
#include "master/store/reader.h"

namespace rota::master::api {

/// The Term of that number, as far as it is stored. Errors: the reader's, thrown for the wire.
DecidedBy decided_by(store::Reader& reader, Epoch epoch);

/// The Term in which the run was recorded: its id says so.
constexpr Epoch epoch_of(RunId run) { return Epoch{run.value >> kIdCounterBits}; }

/// `view`: what the leader knows of it; null: only its row is known. `snapshot`: null where no leader is
/// known.
RunWhyFacts run_facts(const store::RunRow& row, const model::JobDefinition* definition,
                      const core::RunView* view, const core::Snapshot* snapshot, std::string sentence,
                      WallTime now);

std::vector<thrift::WhyCheck> to_wire(const std::vector<Check>& checks);
thrift::WhyDecision to_wire(const DecidedBy& by, std::optional<WallTime> at);
thrift::WhyPlace to_wire(const Place& place);
/// Back from the wire: what a leader said of a run, to stand behind the checks of its moment.
std::vector<Check> from_wire(const std::vector<thrift::WhyCheck>& checks);

}  // namespace rota::master::api
