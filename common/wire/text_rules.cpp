#include "common/wire/text_rules.h"

#include <algorithm>

namespace rota::wire {

bool is_printable(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    if (next.bytes == 0 || is_control(next.code)) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

bool is_word(std::string_view text) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !text.empty() && std::ranges::all_of(text, allowed);
}

}  // namespace rota::wire
