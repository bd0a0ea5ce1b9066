#include "common/wire/text_rules.h"

#include <algorithm>

namespace rota::wire {

/// Nearly all names and keys are plain ASCII, which is not decoded.
bool is_printable(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  while (true) {
    const auto other = std::ranges::find_if_not(text, is_plain);
    if (other == text.end()) return true;
    text.remove_prefix(static_cast<std::size_t>(other - text.begin()));
    const Utf8Character next = first_character(text);
    if (next.bytes == 0 || is_control(next.code)) return false;
    text.remove_prefix(next.bytes);
  }
}

bool is_word(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !text.empty() && std::ranges::all_of(text, allowed);
}

}  // namespace rota::wire
