// What a fuzzer checks besides crashes.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string_view>

namespace rota::fuzz {

inline void demand(bool condition, std::string_view what, std::string_view shown = {}) {
  if (condition) return;
  std::cerr << "a fuzzer's demand is broken: " << what << "\n" << shown << "\n";
  std::abort();
}

}  // namespace rota::fuzz
