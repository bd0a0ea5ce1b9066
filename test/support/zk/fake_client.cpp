#include "test/support/zk/fake_client.h"

namespace rota::zk {

using Op = FakeServer::Op;

namespace {
auto no_node(const std::string& path) {
  return fail(ErrorCode::NotFound, "fake: no node " + path);
}
}  // namespace

Result<std::string> FakeClient::create(const std::string& path, const std::string& data,
                                       CreateMode mode) {
  std::scoped_lock lock(server_.mutex_);
  const SessionId own = credentials_.id;
  std::string made;
  const auto effect = [this, path, data, mode, own, &made] {
    made = server_.place(path, data, mode, own);
  };
  const auto late = [this, path, data, mode, own] { server_.place(path, data, mode, own); };
  if (!server_.nodes_.contains(FakeServer::parent_of(path))) {
    if (auto in = server_.admit(own, Op::Create, {}, {}); !in) return fail(in.error());
    return no_node(FakeServer::parent_of(path));
  }
  if (server_.nodes_.at(FakeServer::parent_of(path)).node.stat.ephemeral_owner != 0) {
    if (auto in = server_.admit(own, Op::Create, {}, {}); !in) return fail(in.error());
    return fail(ErrorCode::InvalidArgument, "fake: an ephemeral node has no children");
  }
  if (mode != CreateMode::EphemeralSequential && server_.nodes_.contains(path)) {
    if (auto in = server_.admit(own, Op::Create, {}, {}); !in) return fail(in.error());
    return fail(ErrorCode::AlreadyExists, "fake: there is a node " + path);
  }
  if (auto in = server_.admit(own, Op::Create, effect, late); !in) return fail(in.error());
  return made;
}

Result<void> FakeClient::remove(const std::string& path, std::int32_t version) {
  std::scoped_lock lock(server_.mutex_);
  Result<void> answer;
  const auto effect = [&] {
    const auto found = server_.nodes_.find(path);
    if (found == server_.nodes_.end()) {
      answer = no_node(path);
    } else if (version != kAnyVersion && version != found->second.node.stat.version) {
      answer = fail(ErrorCode::Conflict, "fake: another version of " + path);
    } else if (server_.has_children(path)) {
      answer = fail(ErrorCode::Conflict, "fake: children under " + path);
    } else {
      server_.erase(path);
    }
  };
  if (auto in = server_.admit(credentials_.id, Op::Remove, effect, {}); !in) return in;
  return answer;
}

Result<Node> FakeClient::get(const std::string& path, Watch watch) {
  std::scoped_lock lock(server_.mutex_);
  if (auto in = server_.admit(credentials_.id, Op::Get, {}, {}); !in) return fail(in.error());
  const auto found = server_.nodes_.find(path);
  if (found == server_.nodes_.end()) return no_node(path);
  if (watch == Watch::Yes) server_.peers_.at(credentials_.id).data_watches.insert(path);
  return found->second.node;
}

std::vector<Result<Node>> FakeClient::get_many(const std::vector<std::string>& paths,
                                               Watch watch) {
  std::vector<Result<Node>> nodes;
  for (const auto& path : paths) nodes.push_back(get(path, watch));
  return nodes;
}

Result<std::optional<NodeStat>> FakeClient::exists(const std::string& path, Watch watch) {
  std::scoped_lock lock(server_.mutex_);
  if (auto in = server_.admit(credentials_.id, Op::Exists, {}, {}); !in) return fail(in.error());
  if (watch == Watch::Yes) server_.peers_.at(credentials_.id).data_watches.insert(path);
  const auto found = server_.nodes_.find(path);
  if (found == server_.nodes_.end()) return std::optional<NodeStat>{};
  return std::optional<NodeStat>(found->second.node.stat);
}

Result<NodeStat> FakeClient::set(const std::string& path, const std::string& data,
                                 std::int32_t version) {
  std::scoped_lock lock(server_.mutex_);
  Result<NodeStat> answer;
  const auto effect = [&] {
    const auto found = server_.nodes_.find(path);
    if (found == server_.nodes_.end()) {
      answer = no_node(path);
    } else if (version != kAnyVersion && version != found->second.node.stat.version) {
      answer = fail(ErrorCode::Conflict, "fake: another version of " + path);
    } else {
      found->second.node.data = data;
      ++found->second.node.stat.version;
      answer = found->second.node.stat;
      server_.fire_data(path, Event::Change::Data);
    }
  };
  if (auto in = server_.admit(credentials_.id, Op::Set, effect, {}); !in) return fail(in.error());
  return answer;
}

Result<std::vector<std::string>> FakeClient::list(const std::string& path, Watch watch) {
  std::scoped_lock lock(server_.mutex_);
  if (auto in = server_.admit(credentials_.id, Op::List, {}, {}); !in) return fail(in.error());
  if (!server_.nodes_.contains(path)) return no_node(path);
  if (watch == Watch::Yes) server_.peers_.at(credentials_.id).child_watches.insert(path);
  return server_.children_locked(path);
}

Result<void> FakeClient::sync(const std::string&) {
  std::scoped_lock lock(server_.mutex_);
  const auto effect = [this] {
    for (const auto& each : std::exchange(server_.late_, {})) each();
  };
  return server_.admit(credentials_.id, Op::Sync, effect, {});
}

SessionState FakeClient::state() const {
  std::scoped_lock lock(server_.mutex_);
  if (!server_.peers_.contains(credentials_.id)) return SessionState::Expired;
  return server_.reachable_ ? SessionState::Connected : SessionState::Connecting;
}

bool FakeClient::close() {
  std::scoped_lock lock(server_.mutex_);
  const auto found = server_.peers_.find(credentials_.id);
  if (found == server_.peers_.end()) return false;
  if (server_.reachable_) {
    server_.end(credentials_.id, attached_);
    return true;
  }
  found->second.handler = [](const Event&) {};  // the session stays, nobody hears of it
  return false;
}

}  // namespace rota::zk
