// The operator's word that a ZooKeeper which the database does not know is to be used from now on. It stands
// in that ZooKeeper and names the epoch that the database holds: once anybody has taken office it is void.
#pragma once

#include <string>

#include "common/zk/client.h"
#include "common/zk/paths.h"
#include "master/office/identity_rules.h"

namespace rota::master {

/// Empty when there is none for this epoch.
Result<OperatorWord> read_word(zk::Client& client, const zk::Paths& paths, Epoch in_database);

/// Twice is fine.
Result<void> clear_word(zk::Client& client, const zk::Paths& paths);

/// Stores the acceptance, and gives what to tell the operator. `workers_gone`: it also says that workers
/// which this ZooKeeper has never seen are gone, so that what they held may run again. Harmless when
/// repeated, and when there is nothing to accept.
Result<std::string> accept_new_zookeeper(zk::Client& client, const zk::Paths& paths, store::Office& office,
                                         bool workers_gone);

}  // namespace rota::master
