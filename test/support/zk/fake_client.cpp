#include "test/support/zk/fake_client.h"

namespace rota::zk {

using Op = FakeServer::Op;

Result<std::string> FakeClient::create(const std::string& path, const std::string& data,
                                       CreateMode mode) {
  std::scoped_lock lock(server_.mutex_);
  Result<std::string> made;
  const auto place = [&server = server_, path, data, mode, own = credentials_.id] {
    auto placed = server.tree_.create(path, data, mode, own);
    server.tell();
    return placed;
  };
  const auto late = [&server = server_, place, mode, own = credentials_.id] {
    if (mode == CreateMode::Persistent || server.peers_.contains(own)) (void)place();
  };
  if (auto in = server_.admit(handle_, Op::Create, [&] { made = place(); }, late); !in) {
    return fail(in.error());
  }
  return made;
}

Result<void> FakeClient::remove(const std::string& path, std::int32_t version) {
  std::scoped_lock lock(server_.mutex_);
  Result<void> answer;
  const auto effect = [&] {
    answer = server_.tree_.remove(path, version);
    server_.tell();
  };
  if (auto in = server_.admit(handle_, Op::Remove, effect, {}); !in) return in;
  return answer;
}

Result<Node> FakeClient::get(const std::string& path, Watch watch) {
  std::scoped_lock lock(server_.mutex_);
  if (auto in = server_.admit(handle_, Op::Get, {}, {}); !in) return fail(in.error());
  const Node* node = server_.tree_.find(path);
  if (node == nullptr) return fail(ErrorCode::NotFound, "fake: no node " + path);
  if (watch == Watch::Yes) server_.peers_.at(credentials_.id).watches.arm(path, true);
  return *node;
}

std::vector<Result<Node>> FakeClient::get_many(const std::vector<std::string>& paths,
                                               Watch watch) {
  std::vector<Result<Node>> nodes;
  for (const auto& path : paths) nodes.push_back(get(path, watch));
  return nodes;
}

Result<std::optional<NodeStat>> FakeClient::exists(const std::string& path, Watch watch) {
  std::scoped_lock lock(server_.mutex_);
  if (auto in = server_.admit(handle_, Op::Exists, {}, {}); !in) return fail(in.error());
  const Node* node = server_.tree_.find(path);
  if (watch == Watch::Yes) server_.peers_.at(credentials_.id).watches.arm(path, node != nullptr);
  return node == nullptr ? std::optional<NodeStat>{} : std::optional<NodeStat>(node->stat);
}

Result<NodeStat> FakeClient::set(const std::string& path, const std::string& data,
                                 std::int32_t version) {
  std::scoped_lock lock(server_.mutex_);
  Result<NodeStat> answer;
  const auto effect = [&] {
    answer = server_.tree_.set(path, data, version);
    server_.tell();
  };
  if (auto in = server_.admit(handle_, Op::Set, effect, {}); !in) return fail(in.error());
  return answer;
}

Result<std::vector<std::string>> FakeClient::list(const std::string& path, Watch watch) {
  std::scoped_lock lock(server_.mutex_);
  if (auto in = server_.admit(handle_, Op::List, {}, {}); !in) return fail(in.error());
  auto names = server_.tree_.list(path);
  if (names && watch == Watch::Yes) server_.peers_.at(credentials_.id).watches.arm_children(path);
  return names;
}

Result<void> FakeClient::sync(const std::string&) {
  std::scoped_lock lock(server_.mutex_);
  const auto effect = [this] {
    for (const auto& each : std::exchange(server_.late_, {})) each();
  };
  return server_.admit(handle_, Op::Sync, effect, {});
}

SessionState FakeClient::state() const {
  std::scoped_lock lock(server_.mutex_);
  return server_.state_of(handle_);
}

bool FakeClient::close() {
  std::scoped_lock lock(server_.mutex_);
  const SessionState state = server_.state_of(handle_);
  if (state == SessionState::Connected) {
    const bool is_holder = server_.peers_.at(credentials_.id).holder == handle_;
    server_.end(credentials_.id, !is_holder);
    return true;
  }
  if (state == SessionState::Connecting) server_.forget(handle_);  // the session stays
  return false;
}

bool FakeClient::abandon() {
  std::scoped_lock lock(server_.mutex_);
  if (server_.state_of(handle_) == SessionState::Connected) return false;
  server_.forget(handle_);
  return true;
}

}  // namespace rota::zk
