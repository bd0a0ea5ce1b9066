// Tells one ZooKeeper from another. An address cannot: two may share one, or one may change its address.
#pragma once

#include <cstdint>
#include <string>

namespace rota::zk {

/// A random value in a node, and that node's czxid. A tool that copies nodes copies only the value; a wiped
/// server has neither.
struct Identity {
  std::string value;
  std::int64_t created_zxid = 0;
  bool operator==(const Identity&) const = default;
};

}  // namespace rota::zk
