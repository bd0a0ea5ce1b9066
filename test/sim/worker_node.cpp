#include "worker_node.h"

#include "common/base/check.h"
#include "common/model/worker_json.h"

namespace rota::sim {

std::string name_of_node(const model::WorkerKey& key) { return model::node_name(key); }

/// Hosts count from 0, and no port is 0.
std::string data_of_node(model::WorkerInfo info) {
  ++info.address.port;
  auto data = model::to_json(info);
  CHECK_OR_DIE(data.has_value(), "a simulated worker's node is small");
  return std::move(*data);
}

model::WorkerInfo read_worker_node(const std::string& name, const std::string& data) {
  const auto key = model::worker_key_in(name);
  CHECK_OR_DIE(key.has_value(), "a simulated worker's node has its life's name");
  auto info = model::worker_from_json(*key, data);
  CHECK_OR_DIE(info.has_value(), "a simulated worker's node says what it is");
  --info->address.port;
  return std::move(*info);
}

std::size_t host_of_node(const std::string& name, const std::string& data) {
  return read_worker_node(name, data).address.port;
}

zk::FolderMark mark_of(const zk::NodeStat& folder) {
  return {folder.created_zxid, folder.created_ms, folder.version, folder.children_version};
}

}  // namespace rota::sim
