#include "common/zk/cluster_nodes.h"

#include <charconv>

#include "common/base/random.h"
#include "common/base/utf8.h"

namespace rota::zk {

namespace {

/// The node contains "<number> <tag>"; the tag tells one master's write from a rival's.
Result<Epoch> parse_epoch(const std::string& data) {
  const std::string number = data.substr(0, data.find(' '));
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (error != std::errc{} || end != number.data() + number.size() || value < 0) {
    return fail(ErrorCode::Corrupt, "the epoch node holds no number: " + quoted_text(data, 40));
  }
  return Epoch{value};
}

Result<void> write_once(Client& client, const std::string& path, const std::string& data,
                        const VersionedEpoch& was) {
  if (was.version) {
    auto set = client.set(path, data, *was.version);
    if (!set) return fail(set.error());
    return {};
  }
  auto made = client.create(path, data, CreateMode::Persistent);
  if (!made) return fail(made.error());
  return {};
}

/// After a lost answer: finds out whether the write was done.
Result<void> look_up(Client& client, const std::string& path, const std::string& data) {
  if (auto synced = client.sync(path); !synced) {
    return fail(ErrorCode::UnknownOutcome, "the epoch may be written: " + synced.error().message);
  }
  const auto node = client.get(path, Watch::No);
  if (node && node->data == data) return {};
  if (node || node.error().code == ErrorCode::NotFound) {
    // If ours was written and then overwritten, another master is in office: we also lost the race.
    return fail(ErrorCode::Conflict, "another write of the epoch came first, or ours was lost");
  }
  return fail(ErrorCode::UnknownOutcome, "the epoch may be written: " + node.error().message);
}

}  // namespace

Result<VersionedEpoch> read_epoch(Client& client, const Paths& paths) {
  if (auto synced = client.sync(paths.root()); !synced) return fail(synced.error());
  const auto node = client.get(paths.epoch(), Watch::No);
  if (!node) {
    if (node.error().code == ErrorCode::NotFound) return VersionedEpoch{};
    return fail(node.error());
  }
  const auto epoch = parse_epoch(node->data);
  if (!epoch) return fail(epoch.error());
  return VersionedEpoch{*epoch, node->stat.version};
}

Result<void> write_epoch(Client& client, const Paths& paths, Epoch epoch,
                         const VersionedEpoch& was) {
  const std::string data = std::to_string(epoch.value) + " " + random_hex(8);
  const auto written = write_once(client, paths.epoch(), data, was);
  if (written) return {};
  const Error& error = written.error();
  if (error.retry == Retry::Unknown) return look_up(client, paths.epoch(), data);
  if (error.code == ErrorCode::AlreadyExists || error.code == ErrorCode::Conflict ||
      (error.code == ErrorCode::NotFound && was.version)) {
    return fail(ErrorCode::Conflict, "another master wrote the epoch first");
  }
  return fail(error);
}

Result<std::optional<std::string>> read_cluster_uuid(Client& client, const Paths& paths) {
  auto node = client.get(paths.cluster_uuid(), Watch::No);
  if (node) return std::optional<std::string>(std::move(node->data));
  if (node.error().code == ErrorCode::NotFound) return std::optional<std::string>{};
  return fail(node.error());
}

Result<void> create_cluster_uuid(Client& client, const Paths& paths, const std::string& uuid) {
  const auto made = client.create(paths.cluster_uuid(), uuid, CreateMode::Persistent);
  if (made) return {};
  if (made.error().code != ErrorCode::AlreadyExists) return fail(made.error());
  const auto there = read_cluster_uuid(client, paths);
  if (!there) return fail(there.error());
  if (*there == uuid) return {};
  return fail(ErrorCode::Conflict, "ZooKeeper holds another cluster's uuid");
}

Result<std::optional<Identity>> read_identity(Client& client, const Paths& paths) {
  auto node = client.get(paths.identity(), Watch::No);
  if (node) return std::optional(Identity{std::move(node->data), node->stat.created_zxid});
  if (node.error().code == ErrorCode::NotFound) return std::optional<Identity>{};
  return fail(node.error());
}

Result<Identity> renew_identity(Client& client, const Paths& paths) {
  const std::string value = random_hex(16);
  auto set = client.set(paths.identity(), value);
  if (set) return Identity{value, set->created_zxid};
  if (set.error().code != ErrorCode::NotFound) return fail(set.error());
  auto made = client.create(paths.identity(), value, CreateMode::Persistent);
  if (!made) return fail(made.error());
  auto there = read_identity(client, paths);
  if (!there) return fail(there.error());
  if (*there && (*there)->value == value) return **there;
  return fail(ErrorCode::Conflict, "another master wrote ZooKeeper's identity");
}

}  // namespace rota::zk
