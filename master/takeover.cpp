#include "master/takeover.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "common/base/log.h"
#include "common/base/random.h"
#include "common/zk/cluster_nodes.h"

namespace rota::master {
namespace {

std::string stored_path(const zk::Paths& paths) { return paths.root() + "/epoch_stored"; }

Result<Epoch> read_epoch_stored(zk::Client& client, const zk::Paths& paths) {
  auto node = client.get(stored_path(paths), zk::Watch::No);
  if (!node) {
    if (node.error().code == ErrorCode::NotFound) return Epoch{};
    return fail(node.error());
  }
  std::int64_t value = 0;
  const std::string& text = node->data;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) {
    return fail(ErrorCode::Corrupt, fmt::format("{} holds no number", stored_path(paths)));
  }
  return Epoch{value};
}

struct Uuid {
  std::string value;
  bool zookeeper_is_new = false;
};

/// The uuid lives in both; the first master of a new cluster makes it.
Result<Uuid> settle_uuid(zk::Client& client, const zk::Paths& paths, store::Office& store) {
  auto in_zookeeper = zk::read_cluster_uuid(client, paths);
  if (!in_zookeeper) return fail(in_zookeeper.error());
  auto standing = store.settle_uuid(in_zookeeper->value_or(random_hex(16)));
  if (!standing) return fail(standing.error());
  if (!*in_zookeeper) {
    auto made = zk::create_cluster_uuid(client, paths, *standing);
    if (!made) return fail(made.error());
    return Uuid{*standing, true};
  }
  if (**in_zookeeper != *standing) {
    return fail(ErrorCode::Conflict,
                fmt::format("ZooKeeper at {} belongs to cluster {} but the database to {}; point "
                            "zookeeper.connect, cluster and database.name at the same cluster",
                            paths.root(), **in_zookeeper, *standing));
  }
  return Uuid{*standing, false};
}

}  // namespace

Result<Office> take_office(zk::Client& client, const zk::Paths& paths, store::Office& store,
                           const std::string& holder) {
  if (auto made = zk::ensure_cluster(client, paths); !made) return fail(made.error());
  auto uuid = settle_uuid(client, paths, store);
  if (!uuid) return fail(uuid.error());
  auto in_zookeeper = zk::read_epoch(client, paths);
  if (!in_zookeeper) return fail(in_zookeeper.error());
  auto marks = store.read_marks();
  if (!marks) return fail(marks.error());
  auto stored = read_epoch_stored(client, paths);
  if (!stored) return fail(stored.error());

  Office office;
  office.epoch = Epoch{std::max(in_zookeeper->epoch.value, marks->epoch.value) + 1};
  office.cluster_uuid = uuid->value;
  office.zookeeper_is_new = uuid->zookeeper_is_new && marks->epoch.value > 0;
  auto written = zk::write_epoch(client, paths, office.epoch, *in_zookeeper);
  if (!written) return fail(written.error());
  if (auto taken = store.take_office(office.epoch, holder); !taken) {
    if (taken.error().retry != Retry::Unknown) return fail(taken.error());
    auto now = store.read_marks();
    if (!now || now->epoch != office.epoch) return fail(taken.error());
  }
  auto recovered = store.recover();
  if (!recovered) return fail(recovered.error());
  office.recovered = std::move(*recovered);
  office.recovered.database_went_back = marks->epoch < *stored;
  if (office.recovered.database_went_back) {
    log_error("term", "the database went back: it knows a lower epoch than it was led with; ticks are held",
              {{"database_epoch", marks->epoch.value}, {"led_with", stored->value}});
  }
  return office;
}

Result<void> note_epoch_stored(zk::Client& client, const zk::Paths& paths, Epoch epoch) {
  const std::string text = std::to_string(epoch.value);
  auto set = client.set(stored_path(paths), text);
  if (set) return {};
  if (set.error().code != ErrorCode::NotFound) return fail(set.error());
  auto made = client.create(stored_path(paths), text, zk::CreateMode::Persistent);
  if (!made) return fail(made.error());
  return {};
}

Result<void> forget_epoch_stored(zk::Client& client, const zk::Paths& paths) {
  auto removed = client.remove(stored_path(paths));
  if (!removed && removed.error().code != ErrorCode::NotFound) return fail(removed.error());
  return {};
}

}  // namespace rota::master
