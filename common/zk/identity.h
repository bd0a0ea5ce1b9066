// What tells one ZooKeeper from another: not its address, which two may share or one may change.
#pragma once

#include <cstdint>
#include <string>

namespace rota::zk {

/// A random value in a node, and that node's czxid: a tool that copies nodes copies the value, a wiped server
/// has neither.
struct Identity {
  std::string value;
  std::int64_t created_zxid = 0;
  bool operator==(const Identity&) const = default;
};

}  // namespace rota::zk
