#include "common/base/random.h"

#include <sys/random.h>

#include "common/base/check.h"

namespace rota {

std::uint64_t random_u64() {
  std::uint64_t value = 0;
  CHECK_OR_DIE(::getrandom(&value, sizeof value, 0) == sizeof value, "the kernel gives randomness");
  return value;
}

std::string random_hex(std::size_t bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    if (i % 8 == 0) bits = random_u64();
    out.push_back(kDigits[(bits >> 4) & 15]);
    out.push_back(kDigits[bits & 15]);
    bits >>= 8;
  }
  return out;
}

}  // namespace rota
