// SHA-256: names a content by 256 bits, so that nobody can make two contents of the same name.
#pragma once

#include <string>
#include <string_view>

namespace rota {

inline constexpr std::size_t kSha256Bytes = 32;

/// 32 bytes, no text. Thread: any.
std::string sha256_of(std::string_view bytes);

}  // namespace rota
