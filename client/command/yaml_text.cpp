#include "client/command/yaml_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace rota::client {
namespace {

using nlohmann::json;

std::string scalar(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Lower-case words need no quotes as keys, except those that YAML 1.1 reads as something else.
std::string key_text(const std::string& key) {
  static constexpr std::string_view kMeaning[] = {"y", "n", "yes", "no", "on", "off",
                                                  "true", "false", "null"};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
  const auto is_fitting = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); };
  const bool is_plain = !key.empty() && is_letter(key.front()) &&
                        std::all_of(key.begin(), key.end(), is_fitting) &&
                        std::find(std::begin(kMeaning), std::end(kMeaning), key) == std::end(kMeaning);
  return is_plain ? key : scalar(key);
}

bool is_nested(const json& value) { return value.is_structured() && !value.empty(); }

void write(std::string& out, const json& value, const std::string& indent);

void write_entries(std::string& out, const json& object, const std::string& indent, bool first_is_placed) {
  for (const auto& [key, value] : object.items()) {
    if (!first_is_placed) out += indent;
    first_is_placed = false;
    out += key_text(key) + ":";
    if (is_nested(value)) {
      out += "\n";
      write(out, value, indent + "  ");
    } else {
      out += " " + scalar(value) + "\n";
    }
  }
}

void write(std::string& out, const json& value, const std::string& indent) {
  if (!is_nested(value)) {
    out += indent + scalar(value) + "\n";
  } else if (value.is_object()) {
    write_entries(out, value, indent, false);
  } else {
    for (const json& item : value) {
      out += indent + "- ";
      if (is_nested(item) && item.is_object()) {
        write_entries(out, item, indent + "  ", true);
      } else if (is_nested(item)) {
        out += "\n";
        write(out, item, indent + "  ");
      } else {
        out += scalar(item) + "\n";
      }
    }
  }
}

}  // namespace

std::string yaml_text(const json& value) {
  std::string out;
  write(out, value, "");
  return out;
}

}  // namespace rota::client
