#include "common/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace rota {

void check_failed(const char* condition, const char* why, const char* file, int line) {
  std::fprintf(stderr, "rota: bug at %s:%d: %s (%s)\n", file, line, why, condition);
  std::fflush(stderr);
  std::abort();
}

}  // namespace rota
