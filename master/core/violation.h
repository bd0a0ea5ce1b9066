// Something in the core's state that can never be so: a bug, told by whoever runs the core.
#pragma once

#include <string>

namespace rota::master::core {

struct Violation {
  std::string what;    ///< the rule that is broken, and by which run; the same text each time that it is seen
  std::string around;  ///< what stands beside it: rows, queue, life; bounded
};

}  // namespace rota::master::core
