// Tables for people: each column is as wide as its widest cell on a screen, where a Chinese character takes
// two places. Control characters are shown escaped, so that no stored text can control a terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rota::client {

/// The text with control and broken bytes written as \xNN.
std::string printable(std::string_view text);

/// The number of places that the text takes on a screen.
int screen_width(std::string_view text);

class Table {
 public:
  explicit Table(std::vector<std::string> headers);
  void add(std::vector<std::string> row);
  bool empty() const { return rows_.empty(); }
  /// All lines with line breaks and without spaces at their ends. Without rows: the headers and "(none)".
  std::string text() const;
  /// The rows so far, which are then forgotten; the headers stand before the first page alone. Columns of
  /// later pages are at least as wide as before.
  std::string next_page();

 private:
  std::string lines_of(bool with_headers) const;

  std::vector<std::string> headers_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<int> widths_;     ///< of the columns so far
  bool has_page_ = false;       ///< one was given away
};

}  // namespace rota::client
