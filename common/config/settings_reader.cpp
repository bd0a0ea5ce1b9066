#include "common/config/settings_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/base/log_format.h"
#include "common/base/spelling.h"
#include "common/base/utf8.h"
#include "common/config/receivers.h"

namespace rota::config {
namespace {

/// "is wrong; allowed: ...", when the setting lists the allowed values.
std::string with_allowed(const Setting& setting, const std::string& what) {
  const std::string allowed = setting.allowed();
  return allowed.empty() ? what : fmt::format("{}; allowed: {}", what, allowed);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; !text.empty() && at <= text.size();) {
    const auto comma = std::min(text.find(',', at), text.size());
    parts.push_back(text.substr(at, comma - at));
    at = comma + 1;
  }
  return parts;
}

YamlNode scalar(std::string text) {
  YamlNode node;
  node.kind = YamlNode::Kind::Scalar;
  node.text = std::move(text);
  return node;
}

/// Turns the text of a variable (a,b or k=v,k=v) into the node that the setting's kind expects.
YamlNode node_from_variable(const Setting& setting, const std::string& text) {
  const bool list = std::holds_alternative<std::vector<std::string>*>(setting.field);
  const bool map = std::holds_alternative<std::map<std::string, std::string>*>(setting.field) ||
                   std::holds_alternative<std::map<std::string, Severity>*>(setting.field);
  if (!list && !map) return scalar(text);
  YamlNode node;
  node.kind = list ? YamlNode::Kind::List : YamlNode::Kind::Map;
  for (const auto& part : split(text)) {
    const auto equals = std::min(part.find('='), part.size());
    if (list) {
      node.items.push_back(scalar(part));
    } else if (equals == part.size()) {
      return scalar(text);  // refused because it is not a map
    } else {
      node.entries.push_back({part.substr(0, equals), {}, scalar(part.substr(equals + 1))});
    }
  }
  return node;
}

}  // namespace

SettingsReader::SettingsReader(std::vector<Setting>& settings, std::string file, Problems& problems)
    : settings_(settings), file_(std::move(file)), problems_(problems) {}

Setting* SettingsReader::find(const std::string& key) {
  const auto found = std::find_if(settings_.begin(), settings_.end(),
                                  [&](const Setting& setting) { return setting.key == key; });
  return found == settings_.end() ? nullptr : &*found;
}

bool SettingsReader::is_section(const std::string& key) const {
  return std::any_of(settings_.begin(), settings_.end(),
                     [&](const Setting& setting) { return setting.key.starts_with(key + "."); });
}

std::vector<std::string> SettingsReader::names_in(const std::string& section) const {
  std::vector<std::string> names;
  for (const auto& setting : settings_) {
    if (!setting.key.starts_with(section)) continue;
    const std::string rest = setting.key.substr(section.size());
    const std::string name = rest.substr(0, rest.find('.'));
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void SettingsReader::read_document(const YamlNode& root) {
  if (root.kind == YamlNode::Kind::Null) return;
  if (root.kind != YamlNode::Kind::Map) {
    problems_.add(file_, root.mark, "", "a map (key: value) is expected");
    return;
  }
  read_map(root, "");
}

void SettingsReader::read_map(const YamlNode& map, const std::string& section) {
  for (const auto& entry : map.entries) {
    const std::string key = section + entry.key;
    const bool empty = entry.value.kind == YamlNode::Kind::Null;
    if (Setting* setting = find(key)) {
      places_[key] = {file_, empty ? entry.key_mark : entry.value.mark};
      read_setting(*setting, entry.value);
    } else if (!is_section(key)) {
      refuse_unknown(key, entry.key_mark, section);
    } else if (entry.value.kind == YamlNode::Kind::Map) {
      read_map(entry.value, key + ".");
    } else if (!empty) {
      problems_.add(file_, entry.value.mark, key,
                    fmt::format("is a section; write its keys below it: {}",
                                fmt::join(names_in(key + "."), ", ")));
    }
  }
}

void SettingsReader::refuse_unknown(const std::string& key, Mark mark, const std::string& section) {
  const auto names = names_in(section);
  const std::string name = key.substr(section.size());
  std::string hint = did_you_mean(name, names);
  for (const auto& setting : settings_) {
    if (hint.empty() && setting.key.ends_with("." + name)) {
      hint = fmt::format(" (did you mean {}?)", setting.key);
    }
  }
  problems_.add(file_, mark, key,
                fmt::format("unknown key{}; allowed here: {}", hint, fmt::join(names, ", ")));
}

void SettingsReader::read_environment(const Environment& environment) {
  std::vector<std::string> known;
  for (auto& setting : settings_) {
    const std::string name = setting.environment_name();
    known.push_back(name);
    const auto found = environment.find(name);
    if (found == environment.end()) continue;
    places_[setting.key] = {"environment " + name, {}};
    if (const auto broken = broken_utf8_at(found->second)) {
      refuse(setting.key, fmt::format("is not UTF-8: byte {} is part of no character", *broken + 1));
      continue;
    }
    read_setting(setting, node_from_variable(setting, found->second));
  }
  // Other programs of Rota have variables too, so only a name close to one of ours counts as a typing error.
  for (const auto& [name, value] : environment) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = nearest_name(name, known);
    if (nearest.empty() || name.size() < 10 || edits_between(name, nearest) > 2) continue;
    problems_.add("environment " + name, {}, "",
                  fmt::format("unknown variable (did you mean {}?)", nearest));
  }
}

std::vector<std::string> SettingsReader::given() const {
  std::vector<std::string> keys;
  for (const auto& [key, place] : places_) keys.push_back(key);
  return keys;
}

void SettingsReader::refuse(const std::string& key, const std::string& what) {
  const auto place = places_.find(key);
  if (place == places_.end()) {
    problems_.add(file_, {}, key, what);
  } else {
    problems_.add(place->second.source, place->second.mark, key, what);
  }
}

bool SettingsReader::is_scalar(const Setting& setting, const YamlNode& node,
                               std::string_view expected) {
  if (node.kind == YamlNode::Kind::Scalar) return true;
  refuse(setting.key, with_allowed(setting, fmt::format("is not {}", expected)));
  return false;
}

bool SettingsReader::passes(const Setting& setting, const std::string& value) {
  const std::string problem = setting.check ? setting.check(value) : "";
  if (problem.empty()) return true;
  refuse(setting.key, fmt::format("'{}' {}", shown_text(value, 100), problem));
  return false;
}

void SettingsReader::read_setting(Setting& setting, const YamlNode& node) {
  if (node.kind == YamlNode::Kind::Null) {
    return refuse(setting.key,
                  with_allowed(setting, "has no value; give one or leave the key out"));
  }
  if (auto* whole = std::get_if<WholeField>(&setting.field)) {
    read_whole(setting, *whole, node);
  } else if (auto** text = std::get_if<std::string*>(&setting.field)) {
    read_text(setting, **text, node);
  } else if (auto** list = std::get_if<std::vector<std::string>*>(&setting.field)) {
    read_list(setting, **list, node);
  } else if (auto** map = std::get_if<std::map<std::string, std::string>*>(&setting.field)) {
    read_map_of_texts(setting, **map, node);
  } else if (auto** levels = std::get_if<std::map<std::string, Severity>*>(&setting.field)) {
    read_levels(setting, **levels, node);
  } else if (auto** receivers = std::get_if<std::vector<ReceiverOptions>*>(&setting.field)) {
    **receivers = read_receivers(node, file_, setting.key, problems_);
  } else if (auto** hooks = std::get_if<std::vector<HookOptions>*>(&setting.field)) {
    **hooks = read_hooks(node, file_, setting.key, problems_);
  } else if (is_scalar(setting, node, "a single word")) {
    auto** level = std::get_if<Severity*>(&setting.field);
    const auto flag = node.quoted || level != nullptr ? std::nullopt : bool_from(node.text);
    const auto severity = level == nullptr ? std::nullopt : severity_named(node.text);
    if (flag) *std::get<bool*>(setting.field) = *flag;
    if (severity) **level = *severity;
    if (!flag && !severity) {
      refuse(setting.key,
             with_allowed(setting, fmt::format("'{}' is not known here", shown_text(node.text))));
    }
  }
}

void SettingsReader::read_whole(Setting& setting, WholeField& field, const YamlNode& node) {
  if (!is_scalar(setting, node, "a whole number")) return;
  const auto value = node.quoted ? std::nullopt : integer_from(node.text);
  if (value && *value >= field.min && *value <= field.max) return field.set(*value);
  const std::string shown = shown_text(node.text);
  refuse(setting.key, with_allowed(setting, value ? fmt::format("{} is out of range", shown)
                                                  : fmt::format("'{}' is no whole number", shown)));
}

void SettingsReader::read_text(Setting& setting, std::string& field, const YamlNode& node) {
  if (is_scalar(setting, node, "a text") && passes(setting, node.text)) field = node.text;
}

void SettingsReader::read_list(Setting& setting, std::vector<std::string>& field,
                               const YamlNode& node) {
  const bool all_scalar =
      std::all_of(node.items.begin(), node.items.end(),
                  [](const YamlNode& item) { return item.kind == YamlNode::Kind::Scalar; });
  if (node.kind != YamlNode::Kind::List || !all_scalar) {
    return refuse(setting.key, "is no list of texts; write it like [a, b]");
  }
  field.clear();
  for (const auto& item : node.items) {
    if (passes(setting, item.text)) field.push_back(item.text);
  }
}

void SettingsReader::read_map_of_texts(Setting& setting, std::map<std::string, std::string>& field,
                                       const YamlNode& node) {
  if (node.kind != YamlNode::Kind::Map) {
    return refuse(setting.key, "is no map of texts; write it like {disk: ssd}");
  }
  field.clear();
  for (const auto& entry : node.entries) {
    if (entry.value.kind == YamlNode::Kind::Scalar) {
      if (passes(setting, entry.key + ": " + entry.value.text)) field.emplace(entry.key, entry.value.text);
    } else {
      refuse(setting.key, fmt::format("the value of '{}' is no text", entry.key));
    }
  }
}

void SettingsReader::read_levels(Setting& setting, std::map<std::string, Severity>& field,
                                 const YamlNode& node) {
  if (node.kind != YamlNode::Kind::Map) {
    return refuse(setting.key, with_allowed(setting, "is no map; write it like {zk: debug}"));
  }
  field.clear();
  for (const auto& entry : node.entries) {
    if (const auto level = severity_named(entry.value.text)) {
      field.emplace(entry.key, *level);
    } else {
      refuse(setting.key, with_allowed(setting, fmt::format("'{}' is no level of '{}'",
                                                            entry.value.text, entry.key)));
    }
  }
}

}  // namespace rota::config
