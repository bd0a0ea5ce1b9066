// What a leader does to keep clear which ZooKeeper its database is led through. ZooKeeper may be wiped, or
// go back, while it leads. As long as MySQL confirms its epoch, the leader says which ZooKeeper the
// cluster's is.
#pragma once

#include <optional>
#include <string>

#include "master/office/zookeeper_look.h"

namespace rota::master {

enum class ZookeeperFinding {
  Fine,
  Repaired,     ///< it had lost the identity or the epoch, or went back: it is marked as a new one
  WorkersGone,  ///< the operator says so of those that it has never seen
  Refused,      ///< it is another cluster's, or this leader's epoch is not in force any more
};

/// Owner: Master. Thread: one.
class ZookeeperKeeper {
 public:
  /// A new Term begins.
  void begin(Epoch epoch, const std::string& cluster_uuid);
  Epoch epoch() const { return epoch_; }
  /// Of the ZooKeeper, since it was repaired last.
  std::int64_t number() const { return known_ ? known_->number : 0; }

  /// Cheap while all is well. `alarmed`: the Term's ticks are held because the database went back, which
  /// ZooKeeper must know again before anything else. An error: a server did not answer; again later.
  Result<ZookeeperFinding> look(zk::Client& client, const zk::Paths& paths, store::Office& office,
                                bool alarmed);

 private:
  Result<bool> is_as_left(zk::Client& client, const zk::Paths& paths) const;
  Result<ZookeeperFinding> repair(zk::Client& client, const zk::Paths& paths, store::Office& office,
                                  const ZookeeperLook& look, bool alarmed);
  Result<ZookeeperFinding> hear(zk::Client& client, const zk::Paths& paths, store::Office& office);

  Epoch epoch_;
  std::string uuid_;
  bool complained_ = false;                      ///< of another cluster's ZooKeeper
  std::optional<store::KnownZookeeper> known_;   ///< as this Term has last read or written it
};

}  // namespace rota::master
