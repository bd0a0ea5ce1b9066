#include "sim_zookeeper.h"

#include <algorithm>
#include <cstdio>

namespace rota::sim {
namespace {
constexpr Millis kServesWhenCut{2500};
}

bool SimZookeeper::serves(std::size_t server, MonoTime now) const {
  const Server& one = servers_[server];
  return up_ && (!one.cut || now - one.cut_since < kServesWhenCut);
}

const SimZookeeper::Tree& SimZookeeper::view(std::size_t server) const {
  const Server& one = servers_[server];
  return one.copy ? *one.copy : tree_;
}

std::string SimZookeeper::add_candidate(std::size_t master, std::uint64_t tag, MonoTime now) {
  char name[48];
  std::snprintf(name, sizeof name, "n_%016llx_%010d", static_cast<unsigned long long>(tag), next_sequence_);
  next_sequence_ = static_cast<std::int32_t>(static_cast<std::uint32_t>(next_sequence_) + 1);
  tree_.candidates[name] = {master, now + master_session};
  return name;
}

void SimZookeeper::remove_node(const model::WorkerKey& key, MonoTime now) {
  const auto found = tree_.nodes.find(key);
  if (found == tree_.nodes.end()) return;
  const std::size_t worker = found->second.info.address.port;
  tree_.nodes.erase(found);
  const bool other = std::ranges::any_of(
      tree_.nodes, [worker](const auto& node) { return node.second.info.address.port == worker; });
  if (!other) last_absent_[worker] = now;
}

void SimZookeeper::come_up(MonoTime now) {
  if (up_) return;
  up_ = true;
  for (auto& [key, node] : tree_.nodes) node.expires = now + timing.session;
  for (auto& [name, candidate] : tree_.candidates) candidate.expires = now + master_session;
}

void SimZookeeper::cut(std::size_t server, MonoTime now) {
  servers_[server] = {true, now, tree_};
}

void SimZookeeper::lag(std::size_t server) {
  if (!servers_[server].cut) servers_[server].copy = tree_;
}

void SimZookeeper::mend(std::size_t server) { servers_[server] = {}; }

bool SimZookeeper::expire(MonoTime now) {
  if (!up_) return false;
  std::erase_if(tree_.candidates, [now](const auto& c) { return c.second.expires <= now; });
  std::vector<model::WorkerKey> gone;
  for (const auto& [key, node] : tree_.nodes) {
    if (node.expires <= now) gone.push_back(key);
  }
  for (const auto& key : gone) remove_node(key, now);
  return !gone.empty();
}

bool SimZookeeper::was_absent_since(std::size_t worker, MonoTime since) const {
  const auto found = last_absent_.find(worker);
  return found != last_absent_.end() && found->second >= since;
}

}  // namespace rota::sim
