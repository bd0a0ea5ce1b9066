#include "test/support/zk/fake_server.h"

#include <fmt/format.h>

#include "test/support/zk/fake_client.h"

namespace rota::zk {

FakeServer::FakeServer() { nodes_["/"] = {}; }
FakeServer::~FakeServer() = default;

ClientFactory FakeServer::factory() {
  return [this](const ClientOptions& options,
                EventHandler handler) -> Result<std::unique_ptr<Client>> {
    std::scoped_lock lock(mutex_);
    if (!reachable_) return fail(ErrorCode::Unavailable, "fake: the server is not reachable");
    Credentials credentials;
    if (options.attach) {
      credentials = *options.attach;
      const auto found = peers_.find(credentials.id);
      if (found == peers_.end() || found->second.credentials.password != credentials.password) {
        handler(Event{Event::What::Expired, credentials.id, Event::Change::None, {}});
      } else {
        handler(Event{Event::What::Connected, credentials.id, Event::Change::None, {}});
      }
    } else {
      credentials.id = ++next_session_;
      credentials.password = fmt::format("{:016}", credentials.id);
      peers_[credentials.id] = Peer{credentials, options.session_timeout, handler, {}, {}};
      handler(Event{Event::What::Connected, credentials.id, Event::Change::None, {}});
    }
    return std::unique_ptr<Client>(
        std::make_unique<FakeClient>(*this, credentials, options.session_timeout,
                                     options.attach.has_value()));
  };
}

void FakeServer::lose_next(Op op, Loss loss) {
  std::scoped_lock lock(mutex_);
  losses_[op].push_back(loss);
}

void FakeServer::expire(SessionId session) {
  std::scoped_lock lock(mutex_);
  end(session, true);
}

void FakeServer::expire_all() {
  std::scoped_lock lock(mutex_);
  while (!peers_.empty()) end(peers_.begin()->first, true);
}

void FakeServer::set_reachable(bool reachable) {
  std::scoped_lock lock(mutex_);
  if (reachable_ == reachable) return;
  reachable_ = reachable;
  for (auto& [id, peer] : peers_) {
    peer.handler(Event{reachable ? Event::What::Connected : Event::What::Suspended, id,
                       Event::Change::None, {}});
  }
}

void FakeServer::set_next_sequence(const std::string& folder, std::int32_t next) {
  std::scoped_lock lock(mutex_);
  nodes_.at(folder).next_sequence = next;
}

void FakeServer::delete_by_hand(const std::string& path) {
  std::scoped_lock lock(mutex_);
  if (nodes_.contains(path)) erase(path);
}

std::vector<std::string> FakeServer::children(const std::string& path) const {
  std::scoped_lock lock(mutex_);
  return children_locked(path);
}

std::vector<SessionId> FakeServer::sessions() const {
  std::scoped_lock lock(mutex_);
  std::vector<SessionId> ids;
  for (const auto& [id, peer] : peers_) ids.push_back(id);
  return ids;
}

int FakeServer::operations(Op op) const {
  std::scoped_lock lock(mutex_);
  const auto found = operations_.find(op);
  return found == operations_.end() ? 0 : found->second;
}

Result<void> FakeServer::admit(SessionId session, Op op, const std::function<void()>& effect,
                               const std::function<void()>& late) {
  ++operations_[op];
  const auto unknown = [] { return fail(ErrorCode::UnknownOutcome, "fake: the answer was lost"); };
  if (!peers_.contains(session)) return fail(ErrorCode::Unavailable, "fake: session expired");
  if (!reachable_) return unknown();
  auto& losses = losses_[op];
  if (losses.empty()) {
    if (effect) effect();
    return {};
  }
  const Loss loss = losses.front();
  losses.erase(losses.begin());
  if (loss == Loss::Answer && effect) effect();
  if (loss == Loss::Late && late) late_.push_back(late);
  return unknown();
}

std::string FakeServer::place(const std::string& path, const std::string& data, CreateMode mode,
                              SessionId session) {
  const std::string folder = parent_of(path);
  std::string whole = path;
  auto& parent = nodes_.at(folder);
  // The folder counts all children ever made in it, not the sequential ones alone.
  const std::int32_t sequence = parent.next_sequence;
  parent.next_sequence = static_cast<std::int32_t>(static_cast<std::uint32_t>(sequence) + 1);
  if (mode == CreateMode::EphemeralSequential) whole += fmt::format("{:010}", sequence);
  const bool ephemeral = mode != CreateMode::Persistent;
  if (ephemeral && !peers_.contains(session)) return whole;  // late, and its session is over
  nodes_[whole].node = Node{data, NodeStat{0, ephemeral ? session : 0, ++zxid_}};
  fire_data(whole, Event::Change::Created);
  fire_children(folder, Event::Change::Children);
  return whole;
}

void FakeServer::erase(const std::string& path) {
  nodes_.erase(path);
  for (auto& [id, peer] : peers_) {  // who watches its data and its children hears of it once
    if (peer.data_watches.erase(path) + peer.child_watches.erase(path) == 0) continue;
    peer.handler(Event{Event::What::Watch, id, Event::Change::Deleted, path});
  }
  fire_children(parent_of(path), Event::Change::Children);
}

void FakeServer::fire_data(const std::string& path, Event::Change change) {
  for (auto& [id, peer] : peers_) {
    if (peer.data_watches.erase(path) != 0) {
      peer.handler(Event{Event::What::Watch, id, change, path});
    }
  }
}

void FakeServer::fire_children(const std::string& folder, Event::Change change) {
  for (auto& [id, peer] : peers_) {
    if (peer.child_watches.erase(folder) != 0) {
      peer.handler(Event{Event::What::Watch, id, change, folder});
    }
  }
}

void FakeServer::end(SessionId session, bool tell) {
  const auto found = peers_.find(session);
  if (found == peers_.end()) return;
  const EventHandler handler = found->second.handler;
  peers_.erase(found);
  std::vector<std::string> theirs;
  for (const auto& [path, entry] : nodes_) {
    if (entry.node.stat.ephemeral_owner == session) theirs.push_back(path);
  }
  for (const auto& path : theirs) erase(path);
  if (tell) handler(Event{Event::What::Expired, session, Event::Change::None, {}});
}

bool FakeServer::has_children(const std::string& path) const {
  return !children_locked(path).empty();
}

std::vector<std::string> FakeServer::children_locked(const std::string& path) const {
  std::vector<std::string> names;
  const std::string start = path == "/" ? path : path + "/";
  for (const auto& [each, entry] : nodes_) {
    if (each.size() <= start.size() || !each.starts_with(start)) continue;
    const std::string name = each.substr(start.size());
    if (name.find('/') == std::string::npos) names.push_back(name);
  }
  return names;
}

std::string FakeServer::parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace rota::zk
