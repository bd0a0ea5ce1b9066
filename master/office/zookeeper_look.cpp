#include "master/office/zookeeper_look.h"

namespace rota::master {
namespace {

Result<void> read_zookeeper(zk::Client& client, const zk::Paths& paths, ZookeeperLook& look) {
  auto epoch = zk::read_epoch(client, paths);
  if (!epoch) return fail(epoch.error());
  auto uuid = zk::read_cluster_uuid(client, paths);
  if (!uuid) return fail(uuid.error());
  auto identity = zk::read_identity(client, paths);
  if (!identity) return fail(identity.error());
  look.epoch = *epoch;
  look.uuid = std::move(*uuid);
  look.identity = std::move(*identity);
  return {};
}

}  // namespace

Result<ZookeeperLook> look_at_zookeeper(zk::Client& client, const zk::Paths& paths, store::Office& office) {
  ZookeeperLook look;
  if (auto read = read_zookeeper(client, paths, look); !read) return fail(read.error());
  auto marks = office.read_marks();
  if (!marks) return fail(marks.error());
  look.marks = std::move(*marks);
  if (look.marks.epoch > look.epoch.epoch) {
    auto again = zk::read_epoch(client, paths);
    if (!again) return fail(again.error());
    if (again->version != look.epoch.version) {
      return fail(ErrorCode::Conflict, "another master wrote the epoch meanwhile");
    }
  }
  const auto& known = look.marks.zookeeper;
  look.belonging = belonging_of({look.identity, look.uuid, look.epoch.epoch,
                                 known ? std::optional(known->identity) : std::nullopt,
                                 look.marks.cluster_uuid, look.marks.epoch});
  return look;
}

}  // namespace rota::master
