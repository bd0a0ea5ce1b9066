// What ZooKeeper and the database say of each other: read by a candidate before it takes office, by a leader
// while it leads, and by the operator's command.
#pragma once

#include <optional>
#include <string>

#include "common/zk/client.h"
#include "common/zk/cluster_nodes.h"
#include "master/office/identity_rules.h"

namespace rota::master {

struct ZookeeperLook {
  zk::VersionedEpoch epoch;
  std::optional<std::string> uuid;
  std::optional<zk::Identity> identity;
  store::Office::Marks marks;
  Belonging belonging = Belonging::Ours;
};

/// ZooKeeper is read synced, and before the database. Since a takeover raises ZooKeeper's epoch first, a
/// higher one in the database makes it read ZooKeeper's once more: Conflict when somebody came between.
/// Any server that does not answer: unknown, again later.
Result<ZookeeperLook> look_at_zookeeper(zk::Client& client, const zk::Paths& paths, store::Office& office);

}  // namespace rota::master
