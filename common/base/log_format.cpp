#include "common/base/log_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "common/base/duration_text.h"
#include "common/base/utf8.h"

namespace rota {
namespace {

constexpr std::array<std::string_view, 5> kFixedKeys = {"at", "level", "process", "channel",
                                                        "message"};

bool begins_a_line(char32_t c) { return c == 0x2028 || c == 0x2029; }

/// Appends `text` without control characters and, when `quoted`, without bare quotes.
void append_escaped(std::string& out, std::string_view text, bool quoted, bool json) {
  while (!text.empty()) {
    const Utf8Character c = first_character(text);
    if (c.bytes == 0) {
      out += json ? std::string("\\ufffd")
                  : fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (c.code == U'\n') {
      out += "\\n";
    } else if (is_control(c.code) || begins_a_line(c.code)) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c.code));
    } else {
      if (quoted && (c.code == U'"' || c.code == U'\\')) out += '\\';
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

/// Whether JSON allows the value without quotes; infinities and NaN need quotes.
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
