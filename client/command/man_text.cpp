#include "client/command/man_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace rota::client {
namespace {

/// Characters that mean something to troff are written so that they stand for themselves.
void put_character(std::string& out, char c) {
  switch (c) {
    case '\\': out += "\\e"; break;
    case '-': out += "\\-"; break;
    case '\'': out += "\\(aq"; break;
    case '`': out += "\\(ga"; break;
    case '^': out += "\\(ha"; break;
    case '~': out += "\\(ti"; break;
    default: out += c;
  }
}

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) put_character(out, c);
  return out;
}

/// A line that begins with a dot would be a command.
std::string text_line(std::string line) { return (line.starts_with('.') ? "\\&" : "") + line + "\n"; }

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

/// In quotes, as an argument of a command of the language.
std::string argument(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') {
      out += "\\(dq";
    } else {
      put_character(out, c);
    }
  }
  return out + "\"";
}

/// Each line of the text, without its line break.
template <typename Take>
void each_line(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::string man_words(std::string_view text) {
  std::string out;
  bool is_bold = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '`') {
      is_bold = !is_bold;
      out += is_bold ? "\\fB" : "\\fR";
    } else if (c == '[' && !is_bold) {
      const std::size_t middle = text.find("](", at);
      const std::size_t end = middle == std::string_view::npos ? middle : text.find(')', middle);
      if (end == std::string_view::npos || text.substr(at, end - at).find(' ') != std::string_view::npos) {
        out += c;
        continue;
      }
      out += plain(text.substr(at + 1, middle - at - 1));
      at = end;
    } else {
      put_character(out, c);
    }
  }
  return is_bold ? out + "\\fR" : out;
}

ManText::ManText(std::string_view name, int section, std::string_view about, std::string_view version) {
  text_ = fmt::format(".\\\" Written by rota --man from its own tables.\n.TH {} {} \"\" {} \"Rota\"\n",
                      argument(upper(name)), section, argument(fmt::format("Rota {}", version)));
  text_ += ".nh\n.ad l\n";  // no word is cut, so that a name can be found
  this->section("NAME");
  text_ += text_line(plain(name) + " \\- " + man_words(about));
}

void ManText::section(std::string_view heading) { text_ += ".SH " + argument(heading) + "\n"; }

void ManText::subsection(std::string_view heading) { text_ += ".SS " + argument(heading) + "\n"; }

void ManText::paragraph(std::string_view words) {
  if (words.empty()) return;
  text_ += ".PP\n";
  each_line(words, [&](std::string_view line) {
    if (!line.empty()) text_ += text_line(man_words(line));
  });
}

void ManText::synopsis(std::string_view command, std::string_view more) {
  text_ += ".PP\n" + text_line(bold(command) + (more.empty() ? "" : " " + plain(more)));
}

void ManText::entry(std::string_view term, std::string_view value, std::string_view words) {
  text_ += ".TP\n" + text_line(bold(term) + (value.empty() ? "" : " \\fI" + plain(value) + "\\fR"));
  bool is_first = true;
  each_line(words, [&](std::string_view line) {
    if (!is_first) text_ += ".br\n";
    text_ += text_line(line.empty() ? "\\&" : man_words(line));
    is_first = false;
  });
  if (words.empty()) text_ += "\\&\n";
}

void ManText::lines(std::string_view text) {
  text_ += ".PP\n.RS 4\n.nf\n";
  each_line(text, [&](std::string_view line) { text_ += text_line(plain(line)); });
  text_ += ".fi\n.RE\n";
}

}  // namespace rota::client
