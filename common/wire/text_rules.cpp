#include "common/wire/text_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace rota::wire {
namespace {

struct Decoded {
  char32_t code = 0;
  std::size_t length = 0;
};

std::optional<Decoded> decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return Decoded{first, 1};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return std::nullopt;
  char32_t code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0u) != 0x80u) return std::nullopt;
    code = (code << 6) | (byte(i) & 0x3Fu);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest[length] || code > 0x10FFFF || is_surrogate) return std::nullopt;
  return Decoded{code, length};
}

template <typename Allowed>
bool every_character(std::string_view text, Allowed allowed) {
  while (!text.empty()) {
    const auto next = decode(text);
    if (!next || !allowed(next->code)) return false;
    text.remove_prefix(next->length);
  }
  return true;
}

bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

}  // namespace

bool is_utf8(std::string_view text) {
  return every_character(text, [](char32_t) { return true; });
}

bool is_printable(std::string_view text) {
  return every_character(text, [](char32_t code) { return !is_control(code); });
}

bool is_word(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !text.empty() && std::ranges::all_of(text, allowed);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string out = "\"";
  while (!text.empty() && out.size() < kLongest) {
    const auto next = decode(text);
    const std::size_t length = next ? next->length : 1;
    if (next && !is_control(next->code)) {
      out += text.substr(0, length);
    } else {
      for (const char c : text.substr(0, length)) {
        out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      }
    }
    text.remove_prefix(length);
  }
  return out + (text.empty() ? "\"" : "...\"");
}

}  // namespace rota::wire
