// Texts in the language of man pages (man(7) of groff and mandoc). Pure.
#pragma once

#include <string>
#include <string_view>

namespace rota::client {

/// A paragraph of plain text, as it is to be read. Words in `ticks` are printed bold, and of links of
/// Markdown the words alone remain. Nothing in it is taken for a command of the language.
std::string man_words(std::string_view text);

/// One page, written from its head to its end.
class ManText {
 public:
  /// "rota-job", 1, "saved jobs".
  ManText(std::string_view name, int section, std::string_view about, std::string_view version);

  void section(std::string_view heading);
  void subsection(std::string_view heading);
  void paragraph(std::string_view words);
  /// A line of a command with what may stand behind it: in bold, and as it is.
  void synopsis(std::string_view command, std::string_view more);
  /// A term in bold, what stands for its value, and what is said of it; lines of `words` stay lines.
  void entry(std::string_view term, std::string_view value, std::string_view words);
  /// Lines as they are, such as an example.
  void lines(std::string_view text);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace rota::client
