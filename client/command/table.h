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
  explicit Table(std::vector<std::string> headers) : headers_(std::move(headers)) {}
  void add(std::vector<std::string> row);
  bool empty() const { return rows_.empty(); }
  /// All lines with line breaks and without spaces at their ends. Without rows: the headers and "(none)".
  std::string text() const;

 private:
  std::vector<std::string> headers_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace rota::client
