// Base64: bytes as text (RFC 4648, with padding).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rota {

std::string base64_of(std::string_view bytes);
/// Empty for a letter outside the alphabet or a wrong length. The padding may be missing.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace rota
