#include "client/command/table.h"

#include <wchar.h>

#include <algorithm>

#include "common/base/utf8.h"

namespace rota::client {
namespace {

void pad(std::string& line, int by) { line.append(static_cast<std::size_t>(std::max(by, 0)), ' '); }

}  // namespace

std::string printable(std::string_view text) { return shown_text(text, std::string_view::npos); }

int screen_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    const int cells = ::wcwidth(static_cast<wchar_t>(next.code));
    width += cells < 0 || next.bytes == 0 ? 1 : cells;
    text.remove_prefix(std::max<std::size_t>(next.bytes, 1));
  }
  return width;
}

Table::Table(std::vector<std::string> headers) : headers_(std::move(headers)) {
  for (const std::string& header : headers_) widths_.push_back(screen_width(header));
}

void Table::add(std::vector<std::string> row) {
  row.resize(headers_.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    row[i] = printable(row[i]);
    widths_[i] = std::max(widths_[i], screen_width(row[i]));
  }
  rows_.push_back(std::move(row));
}

std::string Table::lines_of(bool with_headers) const {
  std::string out;
  const auto add_line = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      line += cells[i];
      if (i + 1 < cells.size()) pad(line, widths_[i] - screen_width(cells[i]) + 2);
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += line + "\n";
  };
  if (with_headers) add_line(headers_);
  for (const auto& row : rows_) add_line(row);
  return out;
}

std::string Table::text() const { return lines_of(true) + (rows_.empty() ? "(none)\n" : ""); }

std::string Table::next_page() {
  std::string out = has_page_ ? lines_of(false) : text();
  has_page_ = true;
  rows_.clear();
  return out;
}

}  // namespace rota::client
