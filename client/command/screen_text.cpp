#include "client/command/screen_text.h"

#include <algorithm>
#include <utility>

#include "client/command/table.h"

namespace rota::client {
namespace {

/// The number of bytes at the end that may begin a character or a Windows line end.
std::size_t unfinished(std::string_view text) {
  if (!text.empty() && text.back() == '\r') return 1;
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0) == 0x80) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

}  // namespace

std::string ScreenText::show(std::string_view bytes) {
  std::string text = held_ + std::string(bytes);
  const std::size_t whole = text.size() - unfinished(text);
  held_ = text.substr(whole);
  text.resize(whole);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of("\n\t", at), text.size());
    const bool is_windows = end < text.size() && text[end] == '\n' && end > at && text[end - 1] == '\r';
    out += printable(std::string_view(text).substr(at, end - at - (is_windows ? 1 : 0)));
    if (end < text.size()) out += text[end];
    at = end + 1;
  }
  return out;
}

std::string ScreenText::rest() { return printable(std::exchange(held_, {})); }

}  // namespace rota::client
