#include "test/contract/agreement/zk_script.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/zk/session_file.h"
#include "test/support/patience.h"

namespace rota::agreement {

using Kind = ZkStep::Kind;

namespace {

const std::vector<std::string> kPaths = {"/a", "/b", "/n_", "/a/x", "/a/n_", "/b/x", "/a/x/y"};

const char* name_of(zk::CreateMode mode) {
  switch (mode) {
    case zk::CreateMode::Persistent: return "persistent";
    case zk::CreateMode::Ephemeral: return "ephemeral";
    case zk::CreateMode::EphemeralSequential: return "sequential";
  }
  return "";
}

const char* name_of(zk::Event::Change change) {
  switch (change) {
    case zk::Event::Change::None: return "none";
    case zk::Event::Change::Created: return "created";
    case zk::Event::Change::Deleted: return "deleted";
    case zk::Event::Change::Data: return "data";
    case zk::Event::Change::Children: return "children";
  }
  return "";
}

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::Create: return "creates";
    case Kind::Remove: return "removes";
    case Kind::Set: return "sets";
    case Kind::Get: return "gets";
    case Kind::Exists: return "asks for";
    case Kind::List: return "lists";
    case Kind::Close: return "closes its session";
    case Kind::EndByOther: return "has its session ended by another";
    case Kind::Visit: return "a visitor creates";
    case Kind::CutOff: return "is cut off";
  }
  return "";
}

constexpr Millis kLongSession{30'000};
/// The session timeout of a visitor, whose end the script waits for.
constexpr Millis kShortSession{4000};

Kind random_kind(Dice& dice, ZkFaults faults) {
  static const std::vector<Kind> kinds = {
      Kind::Create, Kind::Create, Kind::Create, Kind::Create, Kind::Remove, Kind::Remove, Kind::Set,
      Kind::Set,    Kind::Get,    Kind::Get,    Kind::Exists, Kind::Exists, Kind::List,   Kind::List};
  if (faults == ZkFaults::All && dice.chance(6)) return dice.chance(25) ? Kind::Visit : Kind::CutOff;
  if (dice.chance(4)) return Kind::Close;
  if (dice.chance(1)) return Kind::EndByOther;
  return dice.one_of(kinds);
}

template <typename T>
std::string refused(const Result<T>& result) {
  return "refused: " + std::string(rota::name_of(result.error().code));
}

}  // namespace

ZkStep random_zk_step(Dice& dice, ZkFaults faults) {
  ZkStep step;
  step.kind = random_kind(dice, faults);
  step.peer = static_cast<int>(dice.below(kZkPeers));
  step.path = dice.one_of(kPaths);
  const bool creates = step.kind == Kind::Create || step.kind == Kind::Visit;
  const bool sequential = step.path.ends_with("n_") && creates;
  step.mode = sequential ? zk::CreateMode::EphemeralSequential
              : step.kind == Kind::Create && dice.chance(50) ? zk::CreateMode::Persistent : zk::CreateMode::Ephemeral;
  if (dice.chance(40)) step.version = static_cast<std::int32_t>(dice.below(3));
  step.data = "d" + std::to_string(dice.below(100));
  step.watch = dice.chance(60) ? zk::Watch::Yes : zk::Watch::No;
  if (step.kind == Kind::List && dice.chance(50)) step.path = "";
  if (!sequential && step.path.ends_with("n_")) step.path += "000000000" + std::to_string(dice.below(5));
  return step;
}

std::string text_of(const ZkStep& step) {
  std::string text = "p" + std::to_string(step.peer) + " " + name_of(step.kind) + " " + step.path;
  switch (step.kind) {
    case Kind::Create: return text + " " + name_of(step.mode) + " '" + step.data + "'";
    case Kind::Visit: return "a visitor makes " + step.path + " " + name_of(step.mode) + ", and expires";
    case Kind::Set: return text + " '" + step.data + "' if version " + std::to_string(step.version);
    case Kind::Remove: return text + " if version " + std::to_string(step.version);
    case Kind::Get:
    case Kind::Exists:
    case Kind::List: return text + (step.watch == zk::Watch::Yes ? " and watches" : "");
    case Kind::Close:
    case Kind::CutOff:
    case Kind::EndByOther: break;
  }
  return "p" + std::to_string(step.peer) + " " + name_of(step.kind);
}

// --- one side -----------------------------------------------------------------------------------

/// For the session itself only the newest event counts: it may be cut off twice within one step.
bool ZkSide::Heard::wait(zk::Event::What what) {
  std::unique_lock lock(mutex);
  return changed.wait_for(lock, testing::kPatience, [&] {
    const auto newest = std::find_if(events.rbegin(), events.rend(),
                                     [](const auto& e) { return e.what != zk::Event::What::Watch; });
    return newest != events.rend() && newest->what == what;
  });
}

std::vector<zk::Event> ZkSide::Heard::take() {
  const std::scoped_lock lock(mutex);
  return std::exchange(events, {});
}

ZkSide::ZkSide(ZkBack& back, std::string folder)
    : back_(back), folder_(std::move(folder)), peers_(kZkPeers), observer_(connect(kLooksOn, kLongSession)) {
  for (int i = 0; i < kZkPeers; ++i) begin_session(i);
}

ZkSide::Peer ZkSide::connect(int way, Millis timeout) {
  Peer peer;
  peer.heard = std::make_shared<Heard>();
  zk::ClientOptions options;
  options.addresses = back_.address(way);
  options.session_timeout = timeout;
  options.operation_deadline = Millis{20'000};
  auto made = back_.factory(way)(options, [heard = peer.heard](const zk::Event& event) {
    {
      const std::scoped_lock lock(heard->mutex);
      heard->events.push_back(event);
    }
    heard->changed.notify_all();
  });
  CHECK_OR_DIE(made.has_value(), "a client is made");
  peer.client = std::move(*made);
  CHECK_OR_DIE(peer.heard->wait(zk::Event::What::Connected), "the server answers");
  peer.over = false;
  return peer;
}

void ZkSide::begin_session(int peer) {
  Peer fresh = connect(peer, kLongSession);
  (void)fresh.heard->take();
  owners_[fresh.client->session_id()] = "session " + std::to_string(++sessions_);
  peers_[static_cast<std::size_t>(peer)] = std::move(fresh);
}

std::string ZkSide::relative(const std::string& path) const {
  return path.starts_with(folder_) ? path.substr(folder_.size()) : path;
}

std::string ZkSide::owner_of(zk::SessionId session) const {
  if (session == 0) return "nobody";
  const auto found = owners_.find(session);
  return found == owners_.end() ? "a stranger" : found->second;
}

std::string ZkSide::play(const ZkStep& step) {
  if (peers_[static_cast<std::size_t>(step.peer)].away) come_back(step.peer);
  if (peers_[static_cast<std::size_t>(step.peer)].over) begin_session(step.peer);
  std::string out = act(peers_[static_cast<std::size_t>(step.peer)], step) + "\n" + tell_events();
  CHECK_OR_DIE(observer_.client->sync("/").has_value(), "the observer reads the newest");
  add_tree("", out);
  return out;
}

std::string ZkSide::act(Peer& peer, const ZkStep& step) {
  zk::Client& client = *peer.client;
  const std::string path = whole(step.path);
  switch (step.kind) {
    case Kind::Create: {
      const auto made = client.create(path, step.data, step.mode);
      return made ? "made " + relative(*made) : refused(made);
    }
    case Kind::Remove: {
      const auto gone = client.remove(path, step.version);
      return gone ? "removed" : refused(gone);
    }
    case Kind::Set: {
      const auto set = client.set(path, step.data, step.version);
      return set ? "set, version " + std::to_string(set->version) + " of " + owner_of(set->ephemeral_owner)
                 : refused(set);
    }
    case Kind::Get: {
      const auto node = client.get(path, step.watch);
      return node ? "'" + node->data + "' version " + std::to_string(node->stat.version) : refused(node);
    }
    case Kind::Exists: {
      const auto stat = client.exists(path, step.watch);
      if (!stat) return refused(stat);
      return *stat ? "there, version " + std::to_string((*stat)->version) : "not there";
    }
    case Kind::List: {
      const auto names = client.list(path, step.watch);
      if (!names) return refused(names);
      std::string text = "children:";
      for (const std::string& name : *names) text += " " + name;
      return text;
    }
    case Kind::Close:
      peer.over = true;
      if (!client.close()) return "the server was not told";
      end_surely(peer);  // what was told may get lost with its connection
      return "the server was told";
    case Kind::EndByOther: return end_by_other(peer);
    case Kind::Visit: return visit(step);
    case Kind::CutOff: cut_off(step.peer); return "cut off";
  }
  return "";
}

/// Ends it for its holder, like a new life with the session of the dead one: until it is over.
void ZkSide::end_surely(const Peer& peer) {
  zk::SessionRecord record;
  record.addresses = back_.address(kLooksOn);
  record.credentials = peer.client->credentials();
  CHECK_OR_DIE(zk::end_session(record, back_.factory(kLooksOn), testing::kPatience).has_value(), "a session can be ended");
}

/// Its holder is still alive, and is told.
std::string ZkSide::end_by_other(Peer& peer) {
  end_surely(peer);
  const bool heard = peer.heard->wait(zk::Event::What::Expired);
  peer.over = true;
  const auto late = peer.client->exists(whole("/a"), zk::Watch::No);
  return std::string(heard ? "heard" : "not heard") + ", then " +
         (late ? "it still answers" : refused(late));
}

/// Its mark node shows when the servers have ended its session: they end the session and its nodes together.
std::string ZkSide::visit(const ZkStep& step) {
  Peer visitor = connect(kVisitor, kShortSession);
  owners_[visitor.client->session_id()] = "visitor " + std::to_string(++visits_);
  const std::string mark = folder_ + "_visitor";
  CHECK_OR_DIE(visitor.client->create(mark, "", zk::CreateMode::Ephemeral).has_value(), "a visitor leaves a mark");
  const auto made = visitor.client->create(whole(step.path), step.data, step.mode);
  back_.cut(kVisitor);
  const MonoTime end = BootClock::now() + testing::kPatience;
  while (observer_.client->exists(mark, zk::Watch::No).value().has_value()) {
    CHECK_OR_DIE(BootClock::now() < end, "a session that is not heard of expires");
    back_.pass(kShortSession, kVisitor);
  }
  back_.mend(kVisitor);
  const bool heard = visitor.heard->wait(zk::Event::What::Expired);
  return (made ? "made " + relative(*made) : refused(made)) + (heard ? ", and heard that it is over" : "");
}

void ZkSide::cut_off(int peer) {
  Peer& gone = peers_[static_cast<std::size_t>(peer)];
  back_.cut(peer);
  CHECK_OR_DIE(gone.heard->wait(zk::Event::What::Suspended), "a client notices that its connection is gone");
  gone.away = true;
}

/// Like its library: connects again, and asks for the events that its watches missed.
void ZkSide::come_back(int peer) {
  Peer& back = peers_[static_cast<std::size_t>(peer)];
  back_.mend(peer);
  CHECK_OR_DIE(back.heard->wait(zk::Event::What::Connected), "a client connects again");
  back.away = false;
}

/// All watch events of a step have come when a later answer (of a sync) has.
std::string ZkSide::tell_events() {
  std::string out;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (peers_[i].away) continue;
    if (!peers_[i].over) CHECK_OR_DIE(peers_[i].client->sync("/").has_value(), "a session goes on");
    std::vector<std::string> lines;
    for (const zk::Event& event : peers_[i].heard->take()) {
      if (event.what != zk::Event::What::Watch || peers_[i].over) continue;
      lines.push_back("  p" + std::to_string(i) + " hears " + name_of(event.change) + " " +
                      relative(event.path) + "\n");
    }
    std::sort(lines.begin(), lines.end());
    for (const std::string& line : lines) out += line;
  }
  return out;
}

void ZkSide::add_tree(const std::string& path, std::string& out) {
  const auto node = observer_.client->get(whole(path), zk::Watch::No);
  CHECK_OR_DIE(node.has_value(), "a listed node is there");
  if (!path.empty()) {
    out += "  " + path + " '" + node->data + "' version " + std::to_string(node->stat.version) + " of " +
           owner_of(node->stat.ephemeral_owner) + "\n";
  }
  const auto names = observer_.client->list(whole(path), zk::Watch::No);
  CHECK_OR_DIE(names.has_value(), "a node has children, or none");
  for (const std::string& name : *names) add_tree(path + "/" + name, out);
}

}  // namespace rota::agreement
