// The persistent nodes that guard a takeover: the cluster's uuid, ZooKeeper's identity and the epoch.
#pragma once

#include <optional>
#include <string>

#include "common/base/ids.h"
#include "common/zk/identity.h"
#include "common/zk/paths.h"

namespace rota::zk {

/// An epoch with the version of its node, for the conditional set.
struct VersionedEpoch {
  Epoch epoch;                        ///< 0 when there is no node
  std::optional<std::int32_t> version;  ///< empty when there is no node
};

/// Reads the newest epoch (it syncs first). Corrupt when the node holds anything else.
Result<VersionedEpoch> read_epoch(Client& client, const Paths& paths);

/// Sets the epoch if the node is still as it was read. Conflict: another master was faster (leave
/// office). A lost answer is looked up here: the value carries a random tag, so that one's own
/// write is told from a rival's write of the same number. UnknownOutcome only when the look-up
/// failed too; the caller then reads again, and starts the takeover over.
Result<void> write_epoch(Client& client, const Paths& paths, Epoch epoch,
                         const VersionedEpoch& was);

/// Empty when there is none: a new cluster, or ZooKeeper's data was lost.
Result<std::optional<std::string>> read_cluster_uuid(Client& client, const Paths& paths);

/// Writes the uuid of a new cluster. Conflict: there is another one. The same again is harmless.
Result<void> create_cluster_uuid(Client& client, const Paths& paths, const std::string& uuid);

/// Empty when there is none. A plain read: read_epoch, which syncs, comes before it.
Result<std::optional<Identity>> read_identity(Client& client, const Paths& paths);

/// Writes a new random value over what stands, or makes the node; gives what stands then.
Result<Identity> renew_identity(Client& client, const Paths& paths);

}  // namespace rota::zk
