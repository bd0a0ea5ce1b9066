#include "client/command/table.h"

#include <fmt/format.h>
#include <wchar.h>

#include <algorithm>
#include <cstdint>

namespace rota::client {
namespace {

/// Length of the well-formed UTF-8 sequence at `at`, and its code point; 0 when it is broken.
std::size_t decode(std::string_view text, std::size_t at, std::uint32_t& code) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) {
    code = first;
    return 1;
  }
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 0;
  if (length == 0 || first > 0xF4 || at + length > text.size()) return 0;
  code = first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xC0) != 0x80) return 0;
    code = (code << 6) | (byte(at + i) & 0x3Fu);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  if (overlong || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return 0;
  return length;
}

bool is_control(std::uint32_t code) { return code < 0x20 || (code >= 0x7F && code < 0xA0); }

void pad(std::string& line, int by) { line.append(static_cast<std::size_t>(std::max(by, 0)), ' '); }

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::uint32_t code = 0;
    const std::size_t length = decode(text, at, code);
    if (length == 0 || is_control(code)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
      at += 1;
    } else {
      out += text.substr(at, length);
      at += length;
    }
  }
  return out;
}

int screen_width(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::uint32_t code = 0;
    const std::size_t length = std::max<std::size_t>(decode(text, at, code), 1);
    const int cells = ::wcwidth(static_cast<wchar_t>(code));
    width += cells < 0 ? 1 : cells;
    at += length;
  }
  return width;
}

void Table::add(std::vector<std::string> row) {
  row.resize(headers_.size());
  for (std::string& cell : row) cell = printable(cell);
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<int> widths;
  for (const std::string& header : headers_) widths.push_back(screen_width(header));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], screen_width(row[i]));
    }
  }
  std::string out;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += cells[i];
      if (i + 1 < cells.size()) pad(line, widths[i] - screen_width(cells[i]) + 2);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += line + "\n";
  };
  add_line(headers_);
  for (const auto& row : rows_) add_line(row);
  return out;
}

}  // namespace rota::client
