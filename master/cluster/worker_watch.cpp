#include "master/cluster/worker_watch.h"

#include <algorithm>

#include "common/base/log.h"
#include "common/model/worker_json.h"

namespace rota::master::cluster {
namespace {

bool is_plain_name(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  constexpr auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= kLongest && std::all_of(name.begin(), name.end(), is_plain);
}

/// Whether its life can be stored. A name that is too long for its column would fail every leader's batches.
bool is_storable(const model::WorkerInfo& info) {
  constexpr std::size_t kLongestHost = 255;
  return is_plain_name(info.key.id) && is_plain_name(info.key.incarnation) &&
         is_plain_name(info.pool) && info.address.host.size() <= kLongestHost;
}

}  // namespace

WorkerWatch::WorkerWatch(zk::Session& session, const zk::Paths& paths,
                         WorkerWatchCallbacks callbacks)
    : callbacks_(std::move(callbacks)),
      membership_(std::make_unique<zk::Membership>(
          session, paths.workers(),
          [this](const zk::MembershipChange& change) { tell(change); })) {}

WorkerWatch::~WorkerWatch() = default;

void WorkerWatch::tell(const zk::MembershipChange& change) {
  // New nodes come before vanished ones: a worker whose new life has registered was never absent.
  for (const auto& name : change.appeared) read_one(name, change.members.at(name));
  for (const auto& name : change.changed) read_one(name, change.members.at(name));
  for (const auto& name : change.vanished) forget_one(name);
  if (change.synced) callbacks_.synced();
  if (change.confirmed != 0 && callbacks_.confirmed) callbacks_.confirmed(change.confirmed);
}

void WorkerWatch::read_one(const std::string& name, const std::string& data) {
  const auto key = model::worker_key_in(name);
  auto info = key ? model::worker_from_json(*key, data)
                  : Result<model::WorkerInfo>(
                        fail(ErrorCode::Corrupt, "its name is no <id>@<incarnation>"));
  if (info && !is_storable(*info)) {
    info = Result<model::WorkerInfo>(
        fail(ErrorCode::Corrupt, "its id, incarnation, pool or host is too long or no name"));
  }
  if (!info) {
    log_warn("cluster", "a worker's node is not readable",
             {{"node", name}, {"error", info.error().message}});
    return forget_one(name);
  }
  const auto [place, is_new] = known_.insert_or_assign(name, *info);
  is_new ? callbacks_.appeared(place->second) : callbacks_.changed(place->second);
}

void WorkerWatch::forget_one(const std::string& name) {
  const auto known = known_.extract(name);
  if (!known.empty()) callbacks_.vanished(known.mapped().key);
}

}  // namespace rota::master::cluster
