// What a text from outside may hold. Pure.
#pragma once

#include <string>
#include <string_view>

namespace rota::wire {

/// Well-formed UTF-8 by RFC 3629: no overlong forms, no surrogates, at most U+10FFFF.
bool is_utf8(std::string_view text);
/// UTF-8 without control characters (C0, DEL, C1).
bool is_printable(std::string_view text);
/// Letters, digits, '_', '-', '.' only, and not empty.
bool is_word(std::string_view text);
/// The text in quotes, shortened and with what is not printable as \xNN, for messages.
std::string quoted(std::string_view text);
/// The name of an enumerator, as the generated structs hold it.
inline std::string text(std::string_view name) { return std::string(name); }

}  // namespace rota::wire
