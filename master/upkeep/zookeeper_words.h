// What the self check says about ZooKeeper. Pure.
#pragma once

#include <string>
#include <vector>

namespace rota::master {

struct ZookeeperFindings {
  bool is_connected = false;
  std::vector<std::string> ownerless;  ///< paths of candidates' and workers' nodes that no session owns
  std::vector<std::string> awaited;    ///< workers not registered again since ZooKeeper lost data
};

/// "ok", or what is wrong and what is to be done.
std::string zookeeper_word(const ZookeeperFindings& findings);

}  // namespace rota::master
