// Text from people, files and the network: checks whether it is UTF-8, and cuts, repairs and shows it. Only
// this file decodes UTF-8 and shortens text for people: a cut at any byte could leave half a character, which
// no strict reader (Python, JSON, MySQL) accepts. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace rota {

/// U+FFFD, which replaces a byte that is part of no character.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";
/// How many bytes of a foreign text a message shows.
inline constexpr std::size_t kShownBytes = 60;

struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 0;  ///< 0: the first byte begins no well-formed character
};

/// The character at the front of a text that is not empty, by RFC 3629: no overlong forms, no surrogates,
/// at most U+10FFFF.
Utf8Character first_character(std::string_view text);

/// The position of the first byte that is part of no character; empty when the text is UTF-8.
std::optional<std::size_t> broken_utf8_at(std::string_view text);
bool is_utf8(std::string_view text);

/// Whether it is C0, DEL or C1.
bool is_control(char32_t code);

/// The longest prefix of at most `most_bytes` that ends between two characters.
std::string_view cut_text(std::string_view text, std::size_t most_bytes);

/// Always valid UTF-8: each byte that is part of no character becomes U+FFFD.
std::string repaired_text(std::string_view text);

/// Both: valid, and at most `most_bytes`. For texts that a job reports and reasons that people give.
std::string clean_text(std::string_view text, std::size_t most_bytes);

/// For messages: at most about `most_bytes`, then "..."; control characters and broken bytes as \xNN, all on
/// one line. Always valid UTF-8.
std::string shown_text(std::string_view text, std::size_t most_bytes = kShownBytes);
/// The same in double quotes: how a message shows a given value.
std::string quoted_text(std::string_view text, std::size_t most_bytes = kShownBytes);

}  // namespace rota
