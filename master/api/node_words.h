// Workers, masters and capacity, from what the leader and the store know to what clients get. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/time.h"
#include "job_types.h"
#include "master/api/leader_port.h"
#include "master/core/snapshot.h"
#include "master/core/workers/capacity_rules.h"
#include "master/core/workers/node_facts.h"

namespace rota::master::api {

/// Not below 0: two clocks may differ.
std::int64_t age_ms(WallTime now, WallTime then);

/// `facts`: null when nothing was noted yet.
thrift::WorkerInfo worker_told(const core::WorkerView& view, const core::NodeFacts* facts, WallTime now);
thrift::Usage usage_told(const model::AttemptUsage& usage, WallTime now);
thrift::NodeMinute minute_told(const model::WorkerMinute& minute);
thrift::PoolCapacity capacity_told(const core::PoolCapacity& capacity,
                                   const std::vector<core::PoolShortage>& shortages);

/// What is known of a master that is registered, before it is asked.
thrift::MasterNode master_told(const MasterView& view);
/// The same with what it says itself. `now` is as its figures were taken.
void add_figures(thrift::MasterNode& node, const MasterFigures& figures, MonoTime now);
/// The same with what another master's answer says of it.
void add_answer(thrift::MasterNode& node, const std::vector<thrift::MasterNode>& answer, Millis took);
void add_silence(thrift::MasterNode& node, const std::string& why);

}  // namespace rota::master::api
