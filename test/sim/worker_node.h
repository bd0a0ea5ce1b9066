// A simulated worker's node in ZooKeeper, in production's format: its name is the life, its data is what a
// master must know about it.
#pragma once

#include <string>

#include "common/model/worker.h"
#include "common/zk/absence_rules.h"

namespace rota::sim {

inline const std::string kElectionFolder = "/rota/sim/election";
inline const std::string kWorkersFolder = "/rota/sim/workers";
inline const std::string kBeatsFolder = "/rota/sim/beats";

std::string name_of_node(const model::WorkerKey& key);
std::string data_of_node(model::WorkerInfo info);
model::WorkerInfo read_worker_node(const std::string& name, const std::string& data);
/// The number of the host.
std::size_t host_of_node(const std::string& name, const std::string& data);

/// By what a master tells a folder that servers lost, or made anew.
zk::FolderMark mark_of(const zk::NodeStat& folder);

}  // namespace rota::sim
