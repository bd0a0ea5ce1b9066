// A name by which a test finds its own processes among all of a host's.
#pragma once

#include <string>

#include "common/base/random.h"

namespace rota::testing {

/// For `sleep`: ten minutes and a bit that no other process, and no text in an environment, has.
inline std::string lone_seconds() {
  std::string text = "600.";
  for (int i = 0; i < 15; ++i) text += static_cast<char>('0' + random_u64() % 10);
  return text;
}

}  // namespace rota::testing
