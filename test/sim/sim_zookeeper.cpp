#include "sim_zookeeper.h"

#include <utility>

namespace rota::sim {
namespace {
constexpr Millis kServesWhenCut{2500};
}

// --- sessions

zk::SessionId SimZookeeper::begin_session(std::size_t server, Millis timeout, MonoTime now,
                                          zk::EventHandler handler) {
  sessions_[++last_session_] = {timeout, now + timeout, server, std::move(handler), {}};
  return last_session_;
}

void SimZookeeper::end_session(zk::SessionId session) {
  const zk::EventHandler handler = drop(session);
  if (handler) handler({zk::Event::What::Expired, session, {}, {}});
}

/// Its nodes vanish with it. Returns its holder's handler.
zk::EventHandler SimZookeeper::drop(zk::SessionId session) {
  auto ended = sessions_.extract(session);
  if (ended.empty()) return {};
  tree_.remove_nodes_of(session);
  tell_changes();
  return std::move(ended.mapped().handler);
}

Millis SimZookeeper::timeout_of(zk::SessionId session) const {
  const auto found = sessions_.find(session);
  return found == sessions_.end() ? Millis{0} : found->second.timeout;
}

void SimZookeeper::detach(zk::SessionId session) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) found->second.handler = {};
}

bool SimZookeeper::touch(zk::SessionId session, MonoTime now) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return false;
  found->second.expires = now + found->second.timeout;
  return true;
}

bool SimZookeeper::attach(zk::SessionId session, std::size_t server, zk::EventHandler handler) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return false;
  found->second.server = server;
  found->second.handler = std::move(handler);
  found->second.watches = {};
  return true;
}

void SimZookeeper::move(zk::SessionId session, std::size_t server) {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return;
  const std::int64_t seen = view(found->second.server).zxid();
  found->second.server = server;
  for (const auto& change : found->second.watches.missed(view(server), seen)) tell(session, found->second, change);
}

Result<std::string> SimZookeeper::create(zk::SessionId session, const std::string& path, const std::string& data,
                                         zk::CreateMode mode) {
  auto made = tree_.create(path, data, mode, session);
  tell_changes();
  return made;
}

Result<void> SimZookeeper::remove(const std::string& path, std::int32_t version) {
  auto removed = tree_.remove(path, version);
  tell_changes();
  return removed;
}

Result<zk::NodeStat> SimZookeeper::set(const std::string& path, const std::string& data, std::int32_t version) {
  auto set = tree_.set(path, data, version);
  tell_changes();
  return set;
}

void SimZookeeper::watch(zk::SessionId session, const std::string& path, bool is_there) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) found->second.watches.arm(path, is_there);
}

void SimZookeeper::watch_children(zk::SessionId session, const std::string& folder) {
  const auto found = sessions_.find(session);
  if (found != sessions_.end()) found->second.watches.arm_children(folder);
}

// --- servers

bool SimZookeeper::serves(std::size_t server, MonoTime now) const {
  const Server& one = servers_[server];
  return up_ && (!one.cut || now - one.cut_since < kServesWhenCut);
}

const zk::NodeTree& SimZookeeper::view(std::size_t server) const {
  const Server& one = servers_[server];
  return one.copy ? *one.copy : tree_;
}

void SimZookeeper::catch_up(std::size_t server) {
  if (servers_[server].cut) return;
  servers_[server].copy.reset();
  for (const auto& change : std::exchange(servers_[server].pending, {})) tell_sessions_at(server, change);
}

/// A session at a server that does not show the changes yet gets them when the server does.
void SimZookeeper::tell_changes() {
  for (const zk::NodeTree::Change& change : tree_.pop_changes()) {
    if (witness_) witness_(change);
    for (std::size_t server = 0; server < servers_.size(); ++server) {
      if (servers_[server].copy) {
        servers_[server].pending.push_back(change);
      } else {
        tell_sessions_at(server, change);
      }
    }
  }
}

void SimZookeeper::tell_sessions_at(std::size_t server, const zk::NodeTree::Change& change) {
  for (auto& [id, session] : sessions_) {
    if (session.server == server && session.watches.hears(change)) tell(id, session, change);
  }
}

void SimZookeeper::tell(zk::SessionId id, const Session& session, const zk::NodeTree::Change& change) const {
  if (session.handler) session.handler({zk::Event::What::Watch, id, change.what, change.path});
}

// --- faults

void SimZookeeper::come_up(MonoTime now) {
  if (up_) return;
  up_ = true;
  for (auto& [id, session] : sessions_) session.expires = now + session.timeout;
}

void SimZookeeper::lose_data(WallTime now) { go_back_to({zk::NodeTree(to_ms(now)), {}}); }

void SimZookeeper::put_copy_back(WallTime now) {
  Copy copy = *copy_;
  copy.tree.set_clock(to_ms(now));
  for (auto& [id, session] : copy.sessions) {
    session.handler = {};
    session.watches = {};
    session.server = 0;
  }
  go_back_to(std::move(copy));
}

void SimZookeeper::go_back_to(Copy copy) {
  tree_ = std::move(copy.tree);
  sessions_ = std::move(copy.sessions);
  for (Server& server : servers_) {
    server.copy.reset();
    server.pending.clear();
  }
}

void SimZookeeper::cut(std::size_t server, MonoTime now) {
  lag(server);
  servers_[server].cut = true;
  servers_[server].cut_since = now;
}

void SimZookeeper::lag(std::size_t server) {
  if (!servers_[server].copy) servers_[server].copy = tree_;
}

void SimZookeeper::mend(std::size_t server) {
  servers_[server].cut = false;
  catch_up(server);
}

void SimZookeeper::expire(MonoTime now) {
  if (!up_) return;
  std::vector<zk::SessionId> over;
  for (const auto& [id, session] : sessions_) {
    if (session.expires <= now) over.push_back(id);
  }
  for (const zk::SessionId id : over) (void)drop(id);
}

}  // namespace rota::sim
