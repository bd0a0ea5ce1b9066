#include "sim_zk_client.h"

#include <fmt/format.h>

namespace rota::sim {

/// A cut-off server does not know that a session has ended, and still answers it.
Result<void> SimZkClient::enter(bool writes) {
  if (dead_) return fail(unavailable());
  if (random_.per_mille(faults_.dies_per_mille)) {
    marks_.hit("fault_death_in_takeover");
    dead_ = true;
    return fail(unavailable());
  }
  if (random_.per_mille(faults_.between_per_mille)) between_();
  if (!zookeeper_.agrees(server_)) return writes ? Result<void>(fail(unknown())) : Result<void>();
  if (!zookeeper_.is_alive(session_)) return fail(unavailable());
  return {};
}

SimZkClient::Fate SimZkClient::draw() {
  if (!random_.per_mille(faults_.lost_per_mille)) return Fate::Done;
  marks_.hit("fault_zookeeper_answer_lost");
  return random_.chance(50) ? Fate::AnswerLost : Fate::NotDone;
}

template <typename Answer, typename Deed>
Result<Answer> SimZkClient::write(Deed deed) {
  if (auto fine = enter(true); !fine) return fail(fine.error());
  const Fate fate = draw();
  if (fate == Fate::NotDone) return fail(unknown());
  zookeeper_.catch_up(server_);
  Result<Answer> answer = deed();
  if (fate == Fate::AnswerLost) return fail(unknown());
  return answer;
}

Result<std::string> SimZkClient::create(const std::string& path, const std::string& data, zk::CreateMode mode) {
  return write<std::string>([&] { return zookeeper_.create(session_, path, data, mode); });
}

Result<void> SimZkClient::remove(const std::string& path, std::int32_t version) {
  return write<void>([&] { return zookeeper_.remove(path, version); });
}

Result<zk::NodeStat> SimZkClient::set(const std::string& path, const std::string& data, std::int32_t version) {
  return write<zk::NodeStat>([&] { return zookeeper_.set(path, data, version); });
}

Result<zk::Node> SimZkClient::get(const std::string& path, zk::Watch watch) {
  if (auto fine = enter(false); !fine) return fail(fine.error());
  const zk::Node* node = view().find(path);
  if (node == nullptr) return fail(no_node(path));
  if (watch == zk::Watch::Yes) zookeeper_.watch(session_, path, true);
  return *node;
}

std::vector<Result<zk::Node>> SimZkClient::get_many(const std::vector<std::string>& paths, zk::Watch watch) {
  std::vector<Result<zk::Node>> all;
  for (const auto& path : paths) all.push_back(get(path, watch));
  return all;
}

Result<std::optional<zk::NodeStat>> SimZkClient::exists(const std::string& path, zk::Watch watch) {
  if (auto fine = enter(false); !fine) return fail(fine.error());
  const zk::Node* node = view().find(path);
  if (watch == zk::Watch::Yes) zookeeper_.watch(session_, path, node != nullptr);
  return node == nullptr ? std::optional<zk::NodeStat>{} : std::optional(node->stat);
}

Result<std::vector<std::string>> SimZkClient::list(const std::string& path, zk::Watch watch) {
  if (auto fine = enter(false); !fine) return fail(fine.error());
  auto names = view().list(path);
  if (names && watch == zk::Watch::Yes) zookeeper_.watch_children(session_, path);
  return names;
}

Result<void> SimZkClient::sync(const std::string&) {
  if (auto fine = enter(true); !fine) return fail(unavailable());
  zookeeper_.catch_up(server_);
  return {};
}

zk::SessionState SimZkClient::state() const {
  if (!zookeeper_.agrees(server_)) return zk::SessionState::Connecting;
  return zookeeper_.is_alive(session_) ? zk::SessionState::Connected : zk::SessionState::Expired;
}

zk::Credentials SimZkClient::credentials() const { return {session_, fmt::format("{:016}", session_)}; }

bool SimZkClient::abandon() {
  dead_ = state() != zk::SessionState::Connected;
  return dead_;
}

bool SimZkClient::close() {
  if (!zookeeper_.agrees(server_) || !zookeeper_.is_alive(session_)) return false;
  zookeeper_.end_session(session_);
  return true;
}

}  // namespace rota::sim
