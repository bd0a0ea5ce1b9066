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
      peers_[credentials.id] = Peer{credentials, options.session_timeout, handler, {}};
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
  tree_.set_next_sequence(folder, next);
}

void FakeServer::delete_by_hand(const std::string& path) {
  std::scoped_lock lock(mutex_);
  (void)tree_.remove(path);
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

void FakeServer::tell() {
  for (const NodeTree::Change& change : tree_.take_changes()) {
    for (auto& [id, peer] : peers_) {
      if (peer.watches.hears(change)) peer.handler(Event{Event::What::Watch, id, change.what, change.path});
    }
  }
}

void FakeServer::end(SessionId session, bool tell_owner) {
  const auto found = peers_.find(session);
  if (found == peers_.end()) return;
  const EventHandler handler = found->second.handler;
  peers_.erase(found);
  tree_.remove_nodes_of(session);
  tell();
  if (tell_owner) handler(Event{Event::What::Expired, session, Event::Change::None, {}});
}

}  // namespace rota::zk
