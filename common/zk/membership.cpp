#include "common/zk/membership.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/zk/paths.h"

namespace rota::zk {

namespace {
constexpr Millis kRetry{100};

FolderMark mark_of(const NodeStat& folder) {
  return {folder.created_zxid, folder.created_ms, folder.version, folder.children_version};
}

}

Membership::Membership(Session& session, std::string folder, Observer observer, Millis hold)
    : session_(session), folder_(std::move(folder)), observer_(std::move(observer)), hold_(hold) {
  session_.attach(*this);
}

Membership::~Membership() { session_.detach(*this); }

void Membership::session_began(Client& client) {
  synced_ = false;
  start_over();
  refresh(client);
}

/// Watches that are still armed say nothing about servers that came back with older data and have counted on
/// beyond the changes that were seen.
void Membership::session_resumed(Client& client) {
  start_over();
  refresh(client);
}

/// The servers may have lost data since.
void Membership::start_over() {
  must_list_ = true;
  must_prove_ = seen_zxid_ != 0 || folder_seen_;
  must_read_.clear();
  listed_.clear();
  read_.clear();
  ownerless_.clear();
}

void Membership::session_ended() {
  must_list_ = true;  // the reported set stays valid until the next session has listed
}

void Membership::watch_fired(Client&, const Event& event) {
  if (event.path == folder_) {
    must_list_ = true;
  } else if (event.path.starts_with(folder_ + "/")) {
    const std::string name = event.path.substr(folder_.size() + 1);
    if (event.change == Event::Change::Deleted) {
      ownerless_.erase(name);
      read_.erase(name);  // if the name comes back, it is another node: read and watch that one
      must_list_ = true;
    } else if (listed_.contains(name)) {
      must_read_.insert(name);
    }
  } else {
    return;
  }
  refresh_after(Millis{0});  // many events at one moment cause one refresh
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
  if (!must_write()) return true;
  must_list_ = true;
  auto written = client.set(folder_, "");
  if (!written && written.error().code == ErrorCode::NotFound) {
    if (!made_folder(client)) return false;
    written = client.set(folder_, "");
  }
  if (!written) return false;
  proved(*written);
  return true;
}

/// The folder existed and is gone: whatever the servers count, they have lost it.
bool Membership::made_folder(Client& client) {
  const auto made = ensure_folder(client, folder_);
  if (made && must_prove_) proved(NodeStat{});
  return made.has_value();
}

void Membership::proved(const NodeStat& folder) {
  const std::int64_t written = folder.changed_zxid;
  const bool is_lost = has_gone_back(seen_zxid_, written) || has_lost(folder_seen_, mark_of(folder));
  const bool has_older = !is_made_anew(folder_seen_, mark_of(folder));
  folder_seen_ = mark_of(folder);
  if (std::exchange(must_prove_, false) && is_lost) {
    hold_until_ = BootClock::now() + hold_;
    must_know_older_ = has_older;
    older_.clear();
    log_error("zk", "ZooKeeper lost data, or came back with older ones: waiting for missing members",
              {{"folder", folder_}, {"seen", seen_zxid_}, {"now", written}, {"awaited_ms", hold_.count()}});
    seen_zxid_ = 0;
    session_.tasks().post_after(this, hold_, [this] {
      must_list_ = true;
      if (const auto client = session_.client()) refresh(*client);
    });
  }
  seen_zxid_ = std::max(seen_zxid_, written);
}

/// The mark stays unchanged until a write has proved that the servers know everything that was seen.
bool Membership::know_folder(Client& client) {
  if (folder_seen_ && must_prove_) return true;
  const auto folder = client.exists(folder_, Watch::No);
  if (folder && folder->has_value()) folder_seen_ = mark_of(**folder);
  return folder.has_value();
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
  if (!know_folder(client)) return false;
  must_list_ = false;
  listed_ = std::set<std::string>(names->begin(), names->end());
  std::erase_if(read_, [&](const auto& each) { return !listed_.contains(each.first); });
  std::erase_if(ownerless_, [&](const auto& each) { return !listed_.contains(each); });
  std::erase_if(must_read_, [&](const auto& each) { return !listed_.contains(each); });
  for (const auto& name : listed_) {
    if (!read_.contains(name) && !ownerless_.contains(name)) must_read_.insert(name);
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
      seen_zxid_ = std::max(seen_zxid_, nodes[i]->stat.changed_zxid);
      if (nodes[i]->stat.ephemeral_owner == 0) {
        ownerless_.insert(names[i]);
      } else {
        read_[names[i]] = std::move(nodes[i]->data);
        made_[names[i]] = nodes[i]->stat.created_ms;
      }
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

void Membership::know_older() {
  if (std::exchange(must_know_older_, false)) older_ = older_names(made_, told_, read_);
}

void Membership::tell(std::int64_t confirmed) {
  know_older();
  const std::set<std::string> awaited = held();
  note_trouble(awaited);
  if (!awaited.empty()) confirmed = confirmed_;  // confirms no absence while some absences are in doubt
  std::map<std::string, std::string> believed = read_;
  for (const std::string& name : awaited) believed.emplace(name, told_.at(name));
  MembershipChange change;
  change.confirmed = confirmed == confirmed_ ? 0 : confirmed;
  confirmed_ = confirmed;
  for (const auto& [name, data] : believed) {
    const auto before = told_.find(name);
    if (before == told_.end()) {
      change.appeared.push_back(name);
    } else if (before->second != data) {
      change.changed.push_back(name);
    }
  }
  for (const auto& [name, data] : told_) {
    if (!believed.contains(name)) change.vanished.push_back(name);
  }
  change.synced = !synced_;
  synced_ = true;
  if (!change.synced && change.confirmed == 0 && change.appeared.empty() && change.changed.empty() &&
      change.vanished.empty()) {
    return;
  }
  told_ = believed;
  std::erase_if(made_, [&](const auto& each) { return !told_.contains(each.first); });
  change.members = std::move(believed);
  observer_(change);
}

std::set<std::string> Membership::held() const {
  return BootClock::now() < hold_until_ ? awaited_names(told_, read_, older_) : std::set<std::string>();
}

void Membership::note_trouble(const std::set<std::string>& held) {
  MembershipTrouble now;
  for (const std::string& name : ownerless_) now.ownerless.push_back(folder_ + "/" + name);
  now.awaited.assign(held.begin(), held.end());
  std::scoped_lock lock(trouble_mutex_);
  trouble_ = std::move(now);
}

MembershipTrouble Membership::trouble() const {
  std::scoped_lock lock(trouble_mutex_);
  return trouble_;
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
