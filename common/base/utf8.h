// Text that comes from people, files and the network: whether it is UTF-8, and how it is cut, repaired and
// shown. The only place that decodes UTF-8 and the only one that shortens text for people: a cut in bytes
// would leave half a character, which no strict reader (Python, JSON, MySQL) accepts. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace rota {

/// U+FFFD, which stands for a byte that is part of no character.
inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";
/// How much of a text from outside a message shows.
inline constexpr std::size_t kShownBytes = 60;

struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 0;  ///< 0: the first byte begins no well-formed character
};

/// The character at the front of a text that is not empty, by RFC 3629: no overlong forms, no surrogates,
/// at most U+10FFFF.
Utf8Character first_character(std::string_view text);

/// Where the first byte stands that is part of no character; none when the text is UTF-8.
std::optional<std::size_t> broken_utf8_at(std::string_view text);
bool is_utf8(std::string_view text);

/// C0, DEL and C1.
bool is_control(char32_t code);

/// The longest beginning of at most `most_bytes` that ends between two characters.
std::string_view cut_text(std::string_view text, std::size_t most_bytes);

/// Valid UTF-8 whatever comes in: each byte that is part of no character becomes U+FFFD.
std::string repaired_text(std::string_view text);

/// Both: valid, and at most so many bytes. For what a job says of itself, and what people give as a reason.
std::string clean_text(std::string_view text, std::size_t most_bytes);

/// For messages: at most about `most_bytes`, then "..."; control characters and broken bytes as \xNN, each on
/// one line. Always valid UTF-8.
std::string shown_text(std::string_view text, std::size_t most_bytes = kShownBytes);
/// The same in double quotes: what a message calls a value that somebody gave.
std::string quoted_text(std::string_view text, std::size_t most_bytes = kShownBytes);

}  // namespace rota
