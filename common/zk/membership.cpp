#include "common/zk/membership.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/zk/paths.h"

namespace rota::zk {

namespace {
constexpr Millis kRetry{100};
}

Membership::Membership(Session& session, std::string folder, Observer observer)
    : session_(session), folder_(std::move(folder)), observer_(std::move(observer)) {
  session_.attach(*this);
}

Membership::~Membership() { session_.detach(*this); }

void Membership::session_began(Client& client) {
  must_list_ = true;
  synced_ = false;
  must_read_.clear();
  listed_.clear();
  read_.clear();
  refresh(client);
}

void Membership::session_resumed(Client& client) { refresh(client); }

void Membership::session_ended() {
  must_list_ = true;  // what was told stays believed until the next session has listed
}

void Membership::watch_fired(Client&, const Event& event) {
  if (event.path == folder_) {
    must_list_ = true;
  } else if (event.path.starts_with(folder_ + "/")) {
    const std::string name = event.path.substr(folder_.size() + 1);
    if (event.change == Event::Change::Deleted) {
      read_.erase(name);  // should the name come back, it is another node: read and watch it anew
      must_list_ = true;
    } else if (listed_.contains(name)) {
      must_read_.insert(name);
    }
  } else {
    return;
  }
  refresh_after(Millis{0});  // many events of one moment make one refresh
}

void Membership::refresh(Client& client) {
  const std::int64_t asked = asked_;
  const bool complete =
      write_first(client) && (!must_list_ || read_listing(client)) && read_data(client);
  if (complete) return tell(asked);
  if (client.state() == SessionState::Connected) refresh_after(kRetry);
}

void Membership::confirm(std::int64_t number) {
  session_.tasks().post_after(this, Millis{0}, [this, number] {
    asked_ = std::max(asked_, number);
    if (const auto client = session_.client()) refresh(*client);
  });
}

bool Membership::write_first(Client& client) {
  if (asked_ == confirmed_) return true;
  must_list_ = true;
  const auto written = client.set(folder_, "");
  if (written) return true;
  return written.error().code == ErrorCode::NotFound && ensure_folder(client, folder_).has_value();
}

bool Membership::read_listing(Client& client) {
  auto names = client.list(folder_, Watch::Yes);
  if (!names && names.error().code == ErrorCode::NotFound && ensure_folder(client, folder_)) {
    names = client.list(folder_, Watch::Yes);
  }
  if (!names) {
    log_debug("zk", "cannot list members", {{"error", names.error().message}});
    return false;
  }
  must_list_ = false;
  listed_ = std::set<std::string>(names->begin(), names->end());
  std::erase_if(read_, [&](const auto& each) { return !listed_.contains(each.first); });
  std::erase_if(must_read_, [&](const auto& each) { return !listed_.contains(each); });
  for (const auto& name : listed_) {
    if (!read_.contains(name)) must_read_.insert(name);
  }
  return true;
}

bool Membership::read_data(Client& client) {
  const std::vector<std::string> names(must_read_.begin(), must_read_.end());
  std::vector<std::string> paths;
  paths.reserve(names.size());
  for (const auto& name : names) paths.push_back(folder_ + "/" + name);
  auto nodes = client.get_many(paths, Watch::Yes);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (nodes[i]) {
      read_[names[i]] = std::move(nodes[i]->data);
    } else if (nodes[i].error().code == ErrorCode::NotFound) {
      listed_.erase(names[i]);
      read_.erase(names[i]);
    } else {
      continue;  // read again later
    }
    must_read_.erase(names[i]);
  }
  return must_read_.empty();
}

void Membership::tell(std::int64_t confirmed) {
  MembershipChange change;
  change.confirmed = confirmed == confirmed_ ? 0 : confirmed;
  confirmed_ = confirmed;
  for (const auto& [name, data] : read_) {
    const auto before = told_.find(name);
    if (before == told_.end()) {
      change.appeared.push_back(name);
    } else if (before->second != data) {
      change.changed.push_back(name);
    }
  }
  for (const auto& [name, data] : told_) {
    if (!read_.contains(name)) change.vanished.push_back(name);
  }
  change.synced = !synced_;
  synced_ = true;
  if (!change.synced && change.confirmed == 0 && change.appeared.empty() && change.changed.empty() &&
      change.vanished.empty()) {
    return;
  }
  told_ = read_;
  change.members = read_;
  observer_(change);
}

void Membership::refresh_after(Millis delay) {
  if (refresh_pending_) return;
  refresh_pending_ = true;
  session_.tasks().post_after(this, delay, [this] {
    refresh_pending_ = false;
    if (const auto client = session_.client()) refresh(*client);
  });
}

}  // namespace rota::zk
