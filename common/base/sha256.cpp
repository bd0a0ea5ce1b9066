#include "common/base/sha256.h"

#include <openssl/sha.h>

#include "common/base/check.h"

namespace rota {

static_assert(kSha256Bytes == SHA256_DIGEST_LENGTH);

std::string sha256_of(std::string_view bytes) {
  std::string digest(kSha256Bytes, '\0');
  const auto* from = reinterpret_cast<const unsigned char*>(bytes.data());
  auto* to = reinterpret_cast<unsigned char*>(digest.data());
  CHECK_OR_DIE(SHA256(from, bytes.size(), to) != nullptr, "SHA-256 is missing");
  return digest;
}

}  // namespace rota
