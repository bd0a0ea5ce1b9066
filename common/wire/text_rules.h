// What a text from outside may hold. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/base/utf8.h"

namespace rota::wire {

/// UTF-8 without control characters (C0, DEL, C1).
bool is_printable(std::string_view text);
/// Letters, digits, '_', '-', '.' only, and not empty.
bool is_word(std::string_view text);
/// What somebody gave, in quotes, for messages.
inline std::string quoted(std::string_view text) { return quoted_text(text); }
/// The name of an enumerator, as the generated structs hold it.
inline std::string text(std::string_view name) { return std::string(name); }

}  // namespace rota::wire
