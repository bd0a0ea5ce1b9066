// A mark by which a test finds its own processes among all processes of the host.
#pragma once

#include <string>

#include "common/base/random.h"

namespace rota::testing {

/// For `sleep`: ten minutes plus a fraction that no other process and no environment text contains.
inline std::string lone_seconds() {
  std::string text = "600.";
  for (int i = 0; i < 15; ++i) text += static_cast<char>('0' + random_u64() % 10);
  return text;
}

}  // namespace rota::testing
