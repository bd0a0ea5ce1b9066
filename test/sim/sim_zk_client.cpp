#include "sim_zk_client.h"

namespace rota::sim {

Result<void> SimZkClient::enter(bool writes) {
  if (dead_) return fail(unavailable());
  if (random_.per_mille(faults_.dies_per_mille)) {
    marks_.hit("fault_death_in_takeover");
    dead_ = true;
    return fail(unavailable());
  }
  if (random_.per_mille(faults_.between_per_mille)) between_();
  if (writes && !zookeeper_.agrees(server_)) return fail(unknown());
  return {};
}

SimZkClient::Fate SimZkClient::draw() {
  if (!random_.per_mille(faults_.lost_per_mille)) return Fate::Done;
  marks_.hit("fault_zookeeper_answer_lost");
  return random_.chance(50) ? Fate::AnswerLost : Fate::NotDone;
}

Result<std::string> SimZkClient::create(const std::string& path, const std::string& data, zk::CreateMode) {
  if (auto fine = enter(true); !fine) return fail(fine.error());
  const Fate fate = draw();
  if (fate == Fate::NotDone) return fail(unknown());
  const bool is_new = zookeeper_.tree().kept.emplace(path, zk::Node{data, {}}).second;
  zookeeper_.catch_up(server_);
  if (fate == Fate::AnswerLost) return fail(unknown());
  if (!is_new) return fail(ErrorCode::AlreadyExists, path);
  return path;
}

Result<void> SimZkClient::remove(const std::string& path, std::int32_t) {
  if (auto fine = enter(true); !fine) return fine;
  if (draw() == Fate::NotDone) return fail(unknown());
  zookeeper_.catch_up(server_);
  if (zookeeper_.tree().kept.erase(path) == 0) return fail(ErrorCode::NotFound, path);
  return {};
}

Result<zk::Node> SimZkClient::get(const std::string& path, zk::Watch) {
  if (auto fine = enter(false); !fine) return fail(fine.error());
  const auto& kept = zookeeper_.view(server_).kept;
  const auto found = kept.find(path);
  if (found == kept.end()) return fail(ErrorCode::NotFound, path);
  return found->second;
}

std::vector<Result<zk::Node>> SimZkClient::get_many(const std::vector<std::string>& paths, zk::Watch watch) {
  std::vector<Result<zk::Node>> all;
  for (const auto& path : paths) all.push_back(get(path, watch));
  return all;
}

Result<std::optional<zk::NodeStat>> SimZkClient::exists(const std::string& path, zk::Watch watch) {
  auto node = get(path, watch);
  if (node) return std::optional(node->stat);
  if (node.error().code == ErrorCode::NotFound) return std::optional<zk::NodeStat>{};
  return fail(node.error());
}

Result<zk::NodeStat> SimZkClient::set(const std::string& path, const std::string& data, std::int32_t version) {
  if (auto fine = enter(true); !fine) return fail(fine.error());
  const Fate fate = draw();
  if (fate == Fate::NotDone) return fail(unknown());
  zookeeper_.catch_up(server_);
  auto& kept = zookeeper_.tree().kept;
  const auto found = kept.find(path);
  if (found == kept.end()) return fail(ErrorCode::NotFound, path);
  if (version != zk::kAnyVersion && found->second.stat.version != version) {
    return fail(ErrorCode::Conflict, path);
  }
  found->second.data = data;
  ++found->second.stat.version;
  if (fate == Fate::AnswerLost) return fail(unknown());
  return found->second.stat;
}

Result<void> SimZkClient::sync(const std::string&) {
  if (auto fine = enter(true); !fine) return fail(unavailable());
  zookeeper_.catch_up(server_);
  return {};
}

}  // namespace rota::sim
