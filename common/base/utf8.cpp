#include "common/base/utf8.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>

namespace rota {
namespace {

unsigned char byte_of(char c) { return static_cast<unsigned char>(c); }
bool continues(char c) { return (byte_of(c) & 0xC0u) == 0x80u; }
bool begins_a_line(char32_t code) { return code == 0x2028 || code == 0x2029; }

/// The number of plain ASCII bytes at the front, checked eight at a time: most text is only ASCII.
std::size_t ascii_prefix(std::string_view text) {
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, text.data() + at, sizeof eight);
    if ((eight & 0x8080808080808080ull) != 0) break;
  }
  while (at < text.size() && byte_of(text[at]) < 0x80) ++at;
  return at;
}

}  // namespace

Utf8Character first_character(std::string_view text) {
  const unsigned char first = byte_of(text.front());
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return {};
  char32_t code = first & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!continues(text[i])) return {};
    code = (code << 6) | (byte_of(text[i]) & 0x3Fu);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest[bytes] || code > 0x10FFFF || is_surrogate) return {};
  return {code, bytes};
}

std::optional<std::size_t> broken_utf8_at(std::string_view text) {
  std::size_t at = 0;
  while (true) {
    at += ascii_prefix(text.substr(at));
    if (at == text.size()) return std::nullopt;
    const std::size_t bytes = first_character(text.substr(at)).bytes;
    if (bytes == 0) return at;
    at += bytes;
  }
}

bool is_utf8(std::string_view text) { return !broken_utf8_at(text); }

bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0);
}

std::string_view cut_text(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  std::size_t end = most_bytes;
  while (end > 0 && most_bytes - end < 3 && continues(text[end])) --end;
  return text.substr(0, continues(text[end]) ? most_bytes : end);
}

std::string repaired_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (const auto broken = broken_utf8_at(text)) {
    out += text.substr(0, *broken);
    out += kReplacementCharacter;
    text.remove_prefix(*broken + 1);
  }
  out += text;
  return out;
}

std::string clean_text(std::string_view text, std::size_t most_bytes) {
  if (text.size() > most_bytes) text = text.substr(0, most_bytes + 4);  // does not split the last character
  const std::string repaired = repaired_text(text);
  return std::string(cut_text(repaired, most_bytes));
}

std::string shown_text(std::string_view text, std::size_t most_bytes) {
  std::string out;
  while (!text.empty() && out.size() < most_bytes) {
    const Utf8Character next = first_character(text);
    const std::string_view piece = text.substr(0, next.bytes == 0 ? 1 : next.bytes);
    if (next.bytes != 0 && !is_control(next.code) && !begins_a_line(next.code)) {
      out += piece;
    } else {
      for (const char c : piece) out += fmt::format("\\x{:02x}", byte_of(c));
    }
    text.remove_prefix(piece.size());
  }
  return text.empty() ? out : out + "...";
}

std::string quoted_text(std::string_view text, std::size_t most_bytes) {
  return '"' + shown_text(text, most_bytes) + '"';
}

}  // namespace rota
