#include "client/command/screen_look.h"

#include <wchar.h>

#include <algorithm>
#include <vector>

#include "common/base/utf8.h"

namespace rota::client {
namespace {

constexpr std::string_view kHome = "\x1b[H";
constexpr std::string_view kClear = "\x1b[H\x1b[2J";
constexpr std::string_view kClearLine = "\x1b[K";
constexpr std::string_view kClearBelow = "\x1b[J";

std::vector<std::string_view> screen_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

std::string_view cut_line(std::string_view line, int columns) {
  std::string_view left = line;
  int width = 0;
  while (!left.empty()) {
    const Utf8Character next = first_character(left);
    const int cells = ::wcwidth(static_cast<wchar_t>(next.code));
    width += cells < 0 || next.bytes == 0 ? 1 : cells;
    if (width > columns) break;
    left.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
  return line.substr(0, line.size() - left.size());
}

std::string drawn_look(std::string_view text, ScreenSize size, bool is_first) {
  const std::vector<std::string_view> lines = screen_lines(text);
  // The cursor stands below the last line, so one row stays free.
  const auto room = static_cast<std::size_t>(std::max(size.rows - 1, 1));
  const std::size_t shown = lines.size() <= room ? lines.size() : room - 1;
  std::string out(is_first ? kClear : kHome);
  const auto add = [&](std::string_view line) {
    out += cut_line(line, size.columns);
    out += kClearLine;
    out += '\n';
  };
  for (std::size_t i = 0; i < shown; ++i) add(lines[i]);
  if (shown < lines.size()) add("... and " + std::to_string(lines.size() - shown) + " more lines");
  out += kClearBelow;
  return out;
}

std::string without_ages(std::string_view text) {
  constexpr std::string_view kKey = "age_ms";
  std::string out;
  for (;;) {
    const std::size_t at = text.find(kKey);
    if (at == std::string_view::npos) return out + std::string(text);
    std::size_t end = at + kKey.size();
    while (end < text.size() && (text[end] == '"' || text[end] == ':' || text[end] == ' ')) ++end;
    out += text.substr(0, end);
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    text.remove_prefix(end);
  }
}

}  // namespace rota::client
