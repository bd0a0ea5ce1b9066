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

/// Reads the newest epoch (it syncs first). Corrupt when the node contains anything else.
Result<VersionedEpoch> read_epoch(Client& client, const Paths& paths);

/// Sets the epoch if the node is still as it was read. Conflict: another master was faster (leave
/// office). After a lost answer it reads the node: the value contains a random tag, which tells our own
/// write from a rival's write of the same number. UnknownOutcome only when this read failed too;
/// the caller then reads again and starts the takeover again.
Result<void> write_epoch(Client& client, const Paths& paths, Epoch epoch,
                         const VersionedEpoch& was);

/// Empty when there is none: the cluster is new, or ZooKeeper has lost its data.
Result<std::optional<std::string>> read_cluster_uuid(Client& client, const Paths& paths);

/// Writes the uuid of a new cluster. Conflict: there is another one. A repeat is harmless.
Result<void> create_cluster_uuid(Client& client, const Paths& paths, const std::string& uuid);

/// Empty when there is none. A plain read: read_epoch, which syncs, comes before it.
Result<std::optional<Identity>> read_identity(Client& client, const Paths& paths);

/// Overwrites the value with a new random one, or creates the node; returns the result.
Result<Identity> renew_identity(Client& client, const Paths& paths);

}  // namespace rota::zk
