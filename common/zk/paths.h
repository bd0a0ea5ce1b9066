// The paths of one cluster's nodes in ZooKeeper.
#pragma once

#include <string>

#include "common/base/result.h"
#include "common/zk/client.h"

namespace rota::zk {

class Paths {
 public:
  explicit Paths(const std::string& cluster) : root_("/rota/" + cluster) {}
  const std::string& root() const { return root_; }
  std::string cluster_uuid() const { return root_ + "/cluster_uuid"; }
  std::string epoch() const { return root_ + "/epoch"; }
  std::string identity() const { return root_ + "/identity"; }
  std::string election() const { return root_ + "/election"; }
  std::string masters() const { return root_ + "/masters"; }
  std::string workers() const { return root_ + "/workers"; }
  std::string beats() const { return root_ + "/beats"; }
  /// The folder of jobs' own locks; created with the first lock.
  std::string locks() const { return root_ + "/locks"; }

 private:
  std::string root_;
};

/// Whether it is a cluster name that fits into a path: 1 to 64 of a-z, A-Z, 0-9, '-', '_', '.', not "."
/// or "..".
bool is_cluster_name(const std::string& name);

/// Creates the folder and its parents as persistent nodes; fine when they exist.
Result<void> ensure_folder(Client& client, const std::string& path);

/// The five folders of a cluster (not cluster_uuid, identity and epoch, whose absence means something).
Result<void> ensure_cluster(Client& client, const Paths& paths);

}  // namespace rota::zk
