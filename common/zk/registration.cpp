#include "common/zk/registration.h"

#include "common/base/log.h"
#include "common/zk/absence_rules.h"
#include "common/zk/paths.h"

namespace rota::zk {

namespace {
constexpr std::string_view kLogChannel = "zk";
constexpr Millis kRegisterRetry{100};
}  // namespace

Registration::Registration(Session& session, std::string folder, RegistrationCallbacks callbacks)
    : session_(session), folder_(std::move(folder)), callbacks_(std::move(callbacks)) {
  session_.attach(*this);
}

Registration::~Registration() { session_.detach(*this); }

void Registration::set_data(std::string data) {
  session_.tasks().post(this, [this, data = std::move(data)] {
    node_.data = data;
    if (const auto client = session_.client(); client && described_) step(*client);
  });
}

Result<void> Registration::withdraw(Millis at_most) {
  Result<void> removed =
      fail(ErrorCode::Unavailable, "the node in " + folder_ + " was not removed in time");
  session_.tasks().run(at_most, [&] {
    withdrawn_ = true;
    const auto client = session_.client();
    removed = client ? remove_node(*client) : Result<void>{};
    if (!removed) retry_later();
  });
  return removed;
}

void Registration::withdraw_later() {
  session_.tasks().post(this, [this] {
    withdrawn_ = true;
    if (const auto client = session_.client()) step(*client);
  });
}

void Registration::session_began(Client& client) {
  described_ = false;
  step(client);
}

void Registration::session_resumed(Client& client) { step(client); }

void Registration::session_ended() {
  described_ = false;
  lose("the session ended");
}

void Registration::watch_fired(Client& client, const Event& event) {
  if (!described_ || event.path != path()) return;
  if (event.change == Event::Change::Deleted && !withdrawn_) {
    lose("the node was deleted");
    described_ = false;  // another life: the deletion declared this one dead
  }
  step(client);
}

void Registration::step(Client& client) {
  if (withdrawn_) {
    if (!remove_node(client)) retry_later();
    return;
  }
  if (!described_) {
    node_ = callbacks_.describe(client.session_id());
    described_ = true;
  }
  Result<void> done = stands_ ? Result<void>{} : create_node(client);
  if (done) done = confirm(client);
  if (done && !stands_) done = announce(client);
  if (done || client.state() != SessionState::Connected) return;
  log_debug(kLogChannel, "registration waits", {{"error", done.error().message}});
  retry_later();
}

/// confirm finds out whether the node is ours, so an unclear answer is as good as a clear one.
Result<void> Registration::create_node(Client& client) {
  auto made = client.create(path(), node_.data, CreateMode::Ephemeral);
  if (!made && made.error().code == ErrorCode::NotFound) {
    if (auto folder = ensure_folder(client, folder_); !folder) return folder;
    made = client.create(path(), node_.data, CreateMode::Ephemeral);
  }
  if (made || made.error().code == ErrorCode::AlreadyExists) return {};
  if (made.error().retry == Retry::Unknown) return {};
  return fail(made.error());
}

/// Reads the node back and arms a watch: checks that it exists, is ours, and has the right data.
Result<void> Registration::confirm(Client& client) {
  auto node = client.get(path(), Watch::Yes);
  if (!node) {
    if (node.error().code == ErrorCode::NotFound && stands_) {
      lose("the node is gone");
      described_ = false;
    }
    return fail(node.error());
  }
  if (node->stat.ephemeral_owner == 0) return remove_copy(client, node->stat.version);
  if (node->stat.ephemeral_owner != client.session_id()) {
    return fail(ErrorCode::AlreadyExists, path() + " belongs to another session");
  }
  if (node->data == node_.data) return {};
  if (auto set = client.set(path(), node_.data); !set) return fail(set.error());
  return fail(ErrorCode::Conflict, path() + " is to be read back");  // the watch leads here again
}

/// No session owns the node: a tool has copied it, and it never goes away by itself. It has exactly our name,
/// so we may remove it.
Result<void> Registration::remove_copy(Client& client, std::int32_t version) {
  log_warn(kLogChannel, "a node that no session owns has our name; it is removed", {{"node", path()}});
  const auto removed = client.remove(path(), version);
  if (!removed && removed.error().code != ErrorCode::NotFound) return fail(removed.error());
  return fail(ErrorCode::Conflict, path() + " is to be made");
}

/// Other nodes with our id. Removes nodes that this session itself left (they came back with older data).
Result<std::vector<std::string>> Registration::others(Client& client) {
  const auto names = client.list(folder_, Watch::No);
  if (!names) return fail(names.error());
  std::vector<std::string> same_id, paths, others;
  for (const auto& name : *names) {
    if (id_in_name(name) != id_in_name(node_.name) || name == node_.name) continue;
    same_id.push_back(name);
    paths.push_back(folder_ + "/" + name);
  }
  const auto nodes = client.get_many(paths, Watch::No);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i] && nodes[i].error().code != ErrorCode::NotFound) return fail(nodes[i].error());
    if (!nodes[i] || nodes[i]->stat.ephemeral_owner == 0) continue;
    if (nodes[i]->stat.ephemeral_owner != client.session_id()) {
      others.push_back(same_id[i]);
    } else if (const auto gone = client.remove(paths[i]); !gone && gone.error().code != ErrorCode::NotFound) {
      return fail(gone.error());
    }
  }
  return others;
}

Result<void> Registration::announce(Client& client) {
  auto beside = others(client);
  if (!beside) return fail(beside.error());
  const Registered registered{client.session_id(), node_.name, std::move(*beside)};
  stands_ = true;
  log_info(kLogChannel, "registered", {{"node", path()}, {"others_of_this_id", registered.others.size()}});
  callbacks_.registered(registered);
  return {};
}

Result<void> Registration::remove_node(Client& client) {
  if (!described_) return {};
  const auto node = client.get(path(), Watch::No);
  const bool ours = node && node->stat.ephemeral_owner == client.session_id();
  if (!node && node.error().code != ErrorCode::NotFound) return fail(node.error());
  if (ours) {
    const auto removed = client.remove(path());
    if (!removed && removed.error().code != ErrorCode::NotFound) return fail(removed.error());
  }
  described_ = false;
  stands_ = false;
  return {};
}

void Registration::lose(const std::string& why) {
  if (!std::exchange(stands_, false)) return;
  log_warn(kLogChannel, "no longer registered", {{"node", path()}, {"why", why}});
  if (callbacks_.gone) callbacks_.gone(why);
}

void Registration::retry_later() {
  if (retry_pending_) return;
  retry_pending_ = true;
  session_.tasks().post_after(this, kRegisterRetry, [this] {
    retry_pending_ = false;
    if (const auto client = session_.client()) step(*client);
  });
}

}  // namespace rota::zk
