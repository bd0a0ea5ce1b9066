// What ZooKeeper tells of another candidate, in words for people: for the master that stands behind it.
#pragma once

#include <string>

#include "common/zk/client.h"
#include "common/zk/paths.h"

namespace rota::master {

/// "master-2 (it says: degraded: ...)"; of a node that no registered master has made, its path, what it
/// names, its session, and what to do. Thread: blocks for the client's deadline.
std::string words_on_candidate(zk::Client& client, const zk::Paths& paths, const std::string& name);

/// The same of a registered master by its id; of another, the id alone.
std::string words_on_master(zk::Client& client, const zk::Paths& paths, const std::string& id);

}  // namespace rota::master
