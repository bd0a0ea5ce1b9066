// Random numbers for the shells (names of candidates, incarnations, jitter). The pure parts get a
// seeded generator as an argument instead.
#pragma once

#include <cstdint>
#include <string>

namespace rota {

/// 64 bits from the kernel. Thread: any.
std::uint64_t random_u64();
/// `bytes` random bytes as lower-case hex.
std::string random_hex(std::size_t bytes);

}  // namespace rota
