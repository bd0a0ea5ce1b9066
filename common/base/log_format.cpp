#include "common/base/log_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "common/base/duration_text.h"

namespace rota {
namespace {

constexpr std::array<std::string_view, 5> kFixedKeys = {"at", "level", "process", "channel",
                                                        "message"};

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  ///< 0: broken
};

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

/// The UTF-8 character at the front of a text that is not empty.
CodePoint decode(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  if (first < 0x80) return {first, 1};
  const std::size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {};
  char32_t value = first & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!is_continuation(text[i])) return {};
    value = value << 6 | (static_cast<unsigned char>(text[i]) & 0x3fu);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < kLeast[bytes] || value > 0x10ffff || surrogate) return {};
  return {value, bytes};
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
}

/// Appends `text` so that it holds no control character, and no bare quote where `quoted`.
void append_escaped(std::string& out, std::string_view text, bool quoted, bool json) {
  while (!text.empty()) {
    const CodePoint c = decode(text);
    if (c.bytes == 0) {
      out += json ? std::string("\\ufffd")
                  : fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (c.value == U'\n') {
      out += "\\n";
    } else if (is_control(c.value)) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c.value));
    } else {
      if (quoted && (c.value == U'"' || c.value == U'\\')) out += '\\';
      out += text.substr(0, c.bytes);
    }
    text.remove_prefix(c.bytes == 0 ? 1 : c.bytes);
  }
}

void append_quoted(std::string& out, std::string_view text, bool json) {
  out += '"';
  append_escaped(out, text, true, json);
  out += '"';
}

bool is_plain(std::string_view value) {
  return !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-_.:/@+,#%").find(c) != std::string_view::npos;
  });
}

/// Whether the value can stand bare in JSON; infinities and NaN cannot.
bool is_json_number(const OwnedLogKey& key) {
  if (!key.is_number || key.value.empty()) return false;
  if (key.value == "true" || key.value == "false") return true;
  const char last = key.value.back();
  return last >= '0' && last <= '9';
}

std::string json_name(const std::string& name) {
  const bool taken = std::find(kFixedKeys.begin(), kFixedKeys.end(), name) != kFixedKeys.end();
  return taken ? "key_" + name : name;
}

std::string_view padded_name_of(Severity level) {
  switch (level) {
    case Severity::Debug: return "DEBUG";
    case Severity::Info: return "INFO ";
    case Severity::Warn: return "WARN ";
    case Severity::Error: break;
  }
  return "ERROR";
}

}  // namespace

std::string_view name_of(Severity level) {
  switch (level) {
    case Severity::Debug: return "debug";
    case Severity::Info: return "info";
    case Severity::Warn: return "warn";
    case Severity::Error: break;
  }
  return "error";
}

std::optional<Severity> severity_named(std::string_view name) {
  for (const auto level : {Severity::Debug, Severity::Info, Severity::Warn, Severity::Error}) {
    if (name_of(level) == name) return level;
  }
  return std::nullopt;
}

std::string text_line(const LogRecord& record) {
  std::string out = fmt::format("{} {} {} {}: ", format_moment(record.at),
                                padded_name_of(record.level), record.process, record.channel);
  append_escaped(out, record.sentence, false, false);
  for (const auto& key : record.keys) {
    out += ' ';
    append_escaped(out, key.name, false, false);
    out += '=';
    if (is_plain(key.value)) {
      out += key.value;
    } else {
      append_quoted(out, key.value, false);
    }
  }
  return out;
}

std::string json_line(const LogRecord& record) {
  std::string out =
      fmt::format(R"({{"at":"{}","level":"{}")", format_moment(record.at), name_of(record.level));
  const auto add = [&out](std::string_view name) {
    out += ',';
    append_quoted(out, name, true);
    out += ':';
  };
  add("process");
  append_quoted(out, record.process, true);
  add("channel");
  append_quoted(out, record.channel, true);
  add("message");
  append_quoted(out, record.sentence, true);
  for (const auto& key : record.keys) {
    add(json_name(key.name));
    if (is_json_number(key)) {
      out += key.value;
    } else {
      append_quoted(out, key.value, true);
    }
  }
  out += '}';
  return out;
}

}  // namespace rota
