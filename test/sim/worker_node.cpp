#include "worker_node.h"

#include <cstdlib>

namespace rota::sim {

std::string name_of_node(const model::WorkerKey& key) { return key.id + "@" + key.incarnation; }

std::string data_of_node(const model::WorkerInfo& info) {
  return std::to_string(info.address.port) + " " + std::to_string(info.slots) + (info.draining ? " 1" : " 0") +
         (info.drain_told.value_or(false) ? " 1" : " 0");
}

model::WorkerInfo read_worker_node(const std::string& name, const std::string& data) {
  model::WorkerInfo info;
  const std::size_t at = name.find('@');
  info.key = {name.substr(0, at), name.substr(at + 1)};
  char* rest = nullptr;
  info.address = {"sim", static_cast<std::uint16_t>(std::strtol(data.c_str(), &rest, 10))};
  info.slots = static_cast<std::int32_t>(std::strtol(rest, &rest, 10));
  info.draining = std::strtol(rest, &rest, 10) != 0;
  info.drain_told = std::strtol(rest, &rest, 10) != 0;
  return info;
}

std::size_t host_of_node(const std::string& data) {
  return static_cast<std::size_t>(std::strtoul(data.c_str(), nullptr, 10));
}

}  // namespace rota::sim
