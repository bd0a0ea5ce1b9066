#include "test/support/zk/fake_server.h"

#include <fmt/format.h>

#include "test/support/zk/fake_client.h"

namespace rota::zk {

FakeServer::FakeServer() = default;
FakeServer::~FakeServer() = default;

ClientFactory FakeServer::factory() {
  return [this](const ClientOptions& options,
                EventHandler handler) -> Result<std::unique_ptr<Client>> {
    std::scoped_lock lock(mutex_);
    if (!reachable_) {
      ++in_vain_;
      return fail(ErrorCode::Unavailable, "fake: the server is not reachable");
    }
    Credentials credentials;
    const int handle = ++last_handle_;
    Event event{Event::What::Connected, 0, Event::Change::None, {}};
    if (options.attach) {
      credentials = *options.attach;
      const auto found = peers_.find(credentials.id);
      if (found == peers_.end() || found->second.credentials.password != credentials.password) {
        event.what = Event::What::Expired;
      } else if (found->second.holder == 0) {
        found->second.holder = handle;
        found->second.watches = {};
      }
    } else {
      credentials.id = ++next_session_;
      credentials.password = fmt::format("{:016}", credentials.id);
      peers_[credentials.id] = Peer{credentials, options.session_timeout, handle, {}};
    }
    handles_[handle] = {credentials.id, handler, false};
    event.session = credentials.id;
    handler(event);
    return std::unique_ptr<Client>(
        std::make_unique<FakeClient>(*this, credentials, options.session_timeout, handle));
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
    hear(peer, Event{reachable ? Event::What::Connected : Event::What::Suspended, id, Event::Change::None, {}});
  }
}

void FakeServer::wipe() {
  std::scoped_lock lock(mutex_);
  go_back_to({NodeTree(++clock_ms_), {}});
}

void FakeServer::make_copy() {
  std::scoped_lock lock(mutex_);
  copy_ = {tree_, peers_};
  for (auto& [id, peer] : copy_.peers) {
    peer.holder = 0;
    peer.watches = {};
  }
}

void FakeServer::restore_copy() {
  std::scoped_lock lock(mutex_);
  Copy copy = copy_;
  copy.tree.set_clock(++clock_ms_);
  go_back_to(std::move(copy));
}

void FakeServer::go_back_to(Copy copy) {
  for (auto& [number, handle] : handles_) {
    const bool was_connected = state_of(number) == SessionState::Connected;
    handle.refused = true;
    if (was_connected) {
      handle.handler(Event{Event::What::Suspended, handle.session, Event::Change::None, {}});
    }
  }
  tree_ = std::move(copy.tree);
  peers_ = std::move(copy.peers);
}

void FakeServer::set_next_sequence(const std::string& folder, std::int32_t next) {
  std::scoped_lock lock(mutex_);
  tree_.set_next_sequence(folder, next);
}

void FakeServer::delete_by_hand(const std::string& path) {
  std::scoped_lock lock(mutex_);
  (void)tree_.remove(path);
  tell();
}

void FakeServer::make_by_hand(const std::string& path, const std::string& data) {
  std::scoped_lock lock(mutex_);
  (void)tree_.create(path, data, CreateMode::Persistent, 0);
  tell();
}

std::vector<std::string> FakeServer::children(const std::string& path) const {
  std::scoped_lock lock(mutex_);
  return tree_.list(path).value_or(std::vector<std::string>{});
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

int FakeServer::attempts_in_vain() const {
  std::scoped_lock lock(mutex_);
  return in_vain_;
}

Result<void> FakeServer::admit(int handle, Op op, const std::function<void()>& effect,
                               const std::function<void()>& late) {
  ++operations_[op];
  const auto unknown = [] { return fail(ErrorCode::UnknownOutcome, "fake: the answer was lost"); };
  const SessionState state = state_of(handle);
  if (state == SessionState::Closed) return fail(ErrorCode::Unavailable, "fake: this session is closed");
  if (state == SessionState::Expired) return fail(ErrorCode::Unavailable, "fake: session expired");
  if (state == SessionState::Connecting) return unknown();
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

void FakeServer::tell() {
  for (const NodeTree::Change& change : tree_.pop_changes()) {
    for (auto& [id, peer] : peers_) {
      if (peer.watches.hears(change)) hear(peer, Event{Event::What::Watch, id, change.what, change.path});
    }
  }
}

void FakeServer::hear(const Peer& peer, const Event& event) {
  const auto holder = handles_.find(peer.holder);
  if (holder != handles_.end()) holder->second.handler(event);
}

void FakeServer::end(SessionId session, bool tell_owner) {
  const auto found = peers_.find(session);
  if (found == peers_.end()) return;
  const Peer ended = std::move(found->second);
  peers_.erase(found);
  tree_.remove_nodes_of(session);
  tell();
  if (tell_owner) hear(ended, Event{Event::What::Expired, session, Event::Change::None, {}});
}

SessionState FakeServer::state_of(int handle) const {
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return SessionState::Closed;
  if (found->second.refused) return SessionState::Connecting;
  if (!peers_.contains(found->second.session)) return SessionState::Expired;
  return reachable_ ? SessionState::Connected : SessionState::Connecting;
}

void FakeServer::forget(int handle) {
  const auto found = handles_.extract(handle);
  if (found.empty()) return;
  const auto peer = peers_.find(found.mapped().session);
  if (peer != peers_.end() && peer->second.holder == handle) peer->second.holder = 0;
}

}  // namespace rota::zk
