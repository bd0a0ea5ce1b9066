// The small part of HTML that a status page needs: tables and escaped texts, no script, no other file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rota::http {

/// Safe between tags and in quoted attributes; control bytes become spaces.
std::string escaped(std::string_view text);

/// Thread: one.
class Page {
 public:
  /// `refresh_s`: the browser reloads it after this many seconds; 0: never.
  explicit Page(std::string_view title, int refresh_s = 0);
  void heading(std::string_view text);
  void line(std::string_view text);
  void warning(std::string_view text);
  /// A link; the address must begin with http.
  void link(std::string_view text, std::string_view url);
  /// Escapes the cells. Without rows it shows `nothing` instead of a table.
  void table(const std::vector<std::string>& headers, const std::vector<std::vector<std::string>>& rows,
             std::string_view nothing);
  std::string text() const;

 private:
  std::string body_;
};

}  // namespace rota::http
