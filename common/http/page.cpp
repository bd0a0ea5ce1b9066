#include "common/http/page.h"

namespace rota::http {
namespace {

/// A table wider than the window scrolls separately; only long words are broken.
constexpr std::string_view kStyle =
    ":root{color-scheme:light dark}"
    "body{font:14px/1.5 system-ui,sans-serif;margin:2em auto;max-width:84em;padding:0 1em}"
    "h1,p{overflow-wrap:anywhere}"
    ".table{overflow-x:auto;margin:.5em 0 1.5em}"
    "table{border-collapse:collapse;width:max-content}"
    "th,td{text-align:left;padding:.15em .9em .15em 0;border-bottom:1px solid #8884;vertical-align:top;"
    "overflow-wrap:break-word;max-width:28em}"
    "th{white-space:nowrap}"
    ".warning{color:#b00;font-weight:600}"
    "@media(prefers-color-scheme:dark){body{background:#181818;color:#ddd}.warning{color:#f77}a{color:#8bf}}";

void add_row(std::string& body, const char* tag, const std::vector<std::string>& cells) {
  body += "<tr>";
  for (const std::string& cell : cells) {
    body += "<" + std::string(tag) + ">" + escaped(cell) + "</" + tag + ">";
  }
  body += "</tr>\n";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return out;
}

Page::Page(std::string_view title, int refresh_s) {
  const std::string again = refresh_s > 0 ? "<meta http-equiv=\"refresh\" content=\"" +
                                                std::to_string(refresh_s) + "\">" : "";
  body_ = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
          "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">" + again + "<title>" +
          escaped(title) +
          "</title><style>" + std::string(kStyle) + "</style></head><body>\n<h1>" + escaped(title) +
          "</h1>\n";
}

void Page::heading(std::string_view text) { body_ += "<h2>" + escaped(text) + "</h2>\n"; }
void Page::line(std::string_view text) { body_ += "<p>" + escaped(text) + "</p>\n"; }
void Page::warning(std::string_view text) { body_ += "<p class=\"warning\">" + escaped(text) + "</p>\n"; }

void Page::link(std::string_view text, std::string_view url) {
  const std::string safe = escaped(url);
  body_ += "<p>" + escaped(text) + " ";
  body_ += url.starts_with("http") ? "<a href=\"" + safe + "\">" + safe + "</a>" : safe;
  body_ += "</p>\n";
}

void Page::table(const std::vector<std::string>& headers, const std::vector<std::vector<std::string>>& rows,
                 std::string_view nothing) {
  if (rows.empty()) return line(nothing);
  body_ += "<div class=\"table\"><table>\n";
  add_row(body_, "th", headers);
  for (const auto& row : rows) add_row(body_, "td", row);
  body_ += "</table></div>\n";
}

std::string Page::text() const { return body_ + "</body></html>\n"; }

}  // namespace rota::http
