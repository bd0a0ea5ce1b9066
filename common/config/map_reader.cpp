// Typed access to one map of a document.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "common/base/duration_text.h"
#include "common/base/size_text.h"
#include "common/base/spelling.h"
#include "common/base/utf8.h"
#include "common/config/yaml_reader.h"

namespace rota::config {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view kind_name(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::Null: return "nothing";
    case YamlNode::Kind::List: return "a list";
    case YamlNode::Kind::Map: return "a map";
    case YamlNode::Kind::Scalar: break;
  }
  return "a single value";
}

/// The value as it may be shown in a message: short, on one line.
std::string shown(const YamlNode& node) {
  return node.quoted ? quoted_text(node.text) : shown_text(node.text);
}

/// An optional minus, then digits without leading zeros.
bool is_whole(std::string_view text) {
  if (text.starts_with('-')) text.remove_prefix(1);
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return false;
  for (const char c : text) {
    if (!is_digit(c)) return false;
  }
  return true;
}

}  // namespace

std::optional<std::int64_t> integer_from(std::string_view text) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  if (!is_whole(text)) return std::nullopt;
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return value;
}

std::optional<double> number_from(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto dot = text.find_first_of(".eE");
  if (!is_whole(text.substr(0, dot))) return std::nullopt;
  if (dot != std::string_view::npos && !is_digit(text.back())) return std::nullopt;
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<bool> bool_from(std::string_view text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

MapReader::MapReader(const YamlNode& node, std::string source, std::string path, Problems& problems)
    : node_(node), source_(std::move(source)), path_(std::move(path)), problems_(problems) {
  if (node.kind == YamlNode::Kind::Map || node.kind == YamlNode::Kind::Null) return;
  problems_.add(source_, node.mark, path_,
                fmt::format("found {}; a map (key: value) is expected", kind_name(node)));
}

std::string MapReader::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

const YamlNode* MapReader::ask(std::string_view key) {
  asked_.emplace(key);
  const YamlNode* found = node_.find(key);
  return found == nullptr || found->kind == YamlNode::Kind::Null ? nullptr : found;
}

const YamlNode* MapReader::ask_scalar(std::string_view key, std::string_view expected) {
  const YamlNode* found = ask(key);
  if (found == nullptr || found->kind == YamlNode::Kind::Scalar) return found;
  refuse(key, fmt::format("found {}; {} is expected", kind_name(*found), expected));
  return nullptr;
}

bool MapReader::has(std::string_view key) { return ask(key) != nullptr; }

Mark MapReader::mark_of(std::string_view key) const {
  const YamlNode* found = node_.find(key);
  return found == nullptr ? node_.mark : found->mark;
}

void MapReader::refuse(std::string_view key, std::string what) {
  if (problems_.is_full()) return problems_.count_one();
  problems_.add(source_, mark_of(key), path_of(key), what);
}

void MapReader::refuse_former(std::string_view former, std::string_view name) {
  if (node_.find(former) == nullptr) return;
  asked_.emplace(former);
  refuse(former, fmt::format("is called {} now; write {}", name, name));
}

bool MapReader::require(std::string_view key, std::string_view what_it_is) {
  if (has(key)) return true;
  refuse(key, fmt::format("is missing; give {}", what_it_is));
  return false;
}

std::optional<std::string> MapReader::text(std::string_view key) {
  const YamlNode* found = ask_scalar(key, "a text");
  if (found == nullptr) return std::nullopt;
  return found->text;
}

std::optional<bool> MapReader::boolean(std::string_view key) {
  const YamlNode* found = ask_scalar(key, "true or false");
  if (found == nullptr) return std::nullopt;
  const auto value = found->quoted ? std::nullopt : bool_from(found->text);
  if (!value) refuse(key, fmt::format("{} is no bool; write true or false", shown(*found)));
  return value;
}

std::optional<std::int64_t> MapReader::integer(std::string_view key, std::int64_t min,
                                               std::int64_t max) {
  const YamlNode* found = ask_scalar(key, "a whole number");
  if (found == nullptr) return std::nullopt;
  const auto value = found->quoted ? std::nullopt : integer_from(found->text);
  if (value && *value >= min && *value <= max) return value;
  refuse(key, fmt::format("{} is {}; write a whole number from {} to {}", shown(*found),
                          value ? "out of range" : "no whole number", min, max));
  return std::nullopt;
}

std::optional<double> MapReader::number(std::string_view key, double min, double max) {
  const YamlNode* found = ask_scalar(key, "a number");
  if (found == nullptr) return std::nullopt;
  const auto value = found->quoted ? std::nullopt : number_from(found->text);
  if (value && *value >= min && *value <= max) return value;
  refuse(key, fmt::format("{} is {}; write a number from {} to {}", shown(*found),
                          value ? "out of range" : "no number", min, max));
  return std::nullopt;
}

std::optional<Millis> MapReader::duration(std::string_view key, Millis min, Millis max) {
  const YamlNode* found = ask_scalar(key, "a duration like 1h30m");
  if (found == nullptr) return std::nullopt;
  const auto value = parse_duration(found->text);
  if (value && *value >= min && *value <= max) return *value;
  refuse(key, value ? fmt::format("{} is out of range; write a duration from {} to {}",
                                  shown(*found), format_duration(min), format_duration(max))
                    : value.error().message);
  return std::nullopt;
}

std::optional<std::int64_t> MapReader::size(std::string_view key, std::int64_t min,
                                           std::int64_t max) {
  const YamlNode* found = ask_scalar(key, "a size like 512MiB");
  if (found == nullptr) return std::nullopt;
  const auto value = parse_size(found->text);
  if (value && *value >= min && *value <= max) return *value;
  refuse(key, value ? fmt::format("{} is out of range; write a size from {} to {}", shown(*found),
                                  format_size(min), format_size(max))
                    : value.error().message);
  return std::nullopt;
}

std::optional<WallTime> MapReader::moment(std::string_view key) {
  const YamlNode* found = ask_scalar(key, "a moment like 2026-03-29T02:30:00Z");
  if (found == nullptr) return std::nullopt;
  const auto value = parse_moment(found->text);
  if (value) return *value;
  refuse(key, value.error().message);
  return std::nullopt;
}

std::optional<std::string> MapReader::one_of(std::string_view key,
                                             const std::vector<std::string_view>& words) {
  const YamlNode* found = ask_scalar(key, "a word");
  if (found == nullptr) return std::nullopt;
  const std::vector<std::string> known(words.begin(), words.end());
  for (const auto& word : known) {
    if (word == found->text) return word;
  }
  refuse(key, fmt::format("{} is not known here{}; write one of {}", shown(*found),
                          did_you_mean(found->text, known), fmt::join(known, ", ")));
  return std::nullopt;
}

std::optional<std::vector<std::string>> MapReader::texts(std::string_view key, bool or_single) {
  const YamlNode* found = ask(key);
  if (found == nullptr) return std::nullopt;
  if (or_single && found->kind == YamlNode::Kind::Scalar) return std::vector{found->text};
  if (found->kind != YamlNode::Kind::List) {
    refuse(key, fmt::format("found {}; a list of texts is expected", kind_name(*found)));
    return std::nullopt;
  }
  std::vector<std::string> out;
  for (std::size_t i = 0; i < found->items.size(); ++i) {
    const YamlNode& item = found->items[i];
    if (item.kind != YamlNode::Kind::Scalar) {
      problems_.add(source_, item.mark, fmt::format("{}[{}]", path_of(key), i),
                    fmt::format("found {}; a text is expected", kind_name(item)));
      continue;
    }
    out.push_back(item.text);
  }
  if (out.size() != found->items.size()) return std::nullopt;
  return out;
}

std::optional<std::map<std::string, std::string>> MapReader::text_map(std::string_view key) {
  const YamlNode* found = ask(key);
  if (found == nullptr) return std::nullopt;
  if (found->kind != YamlNode::Kind::Map) {
    refuse(key, fmt::format("found {}; a map of texts is expected", kind_name(*found)));
    return std::nullopt;
  }
  std::map<std::string, std::string> out;
  bool fine = true;
  for (const auto& entry : found->entries) {
    // A value left empty is the empty text: FOO: in an environment.
    const bool null = entry.value.kind == YamlNode::Kind::Null;
    if (!null && entry.value.kind != YamlNode::Kind::Scalar) {
      problems_.add(source_, entry.value.mark, fmt::format("{}.{}", path_of(key), entry.key),
                    fmt::format("found {}; a text is expected", kind_name(entry.value)));
      fine = false;
      continue;
    }
    out.emplace(entry.key, entry.value.text);
  }
  if (!fine) return std::nullopt;
  return out;
}

std::optional<std::map<std::string, std::int32_t>> MapReader::count_map(std::string_view key,
                                                                        std::int32_t min, std::int32_t max,
                                                                        std::size_t most) {
  const YamlNode* found = ask(key);
  if (found == nullptr) return std::nullopt;
  if (found->kind != YamlNode::Kind::Map || found->entries.size() > most) {
    refuse(key, found->kind != YamlNode::Kind::Map
                    ? fmt::format("found {}; a map of whole numbers is expected", kind_name(*found))
                    : fmt::format("{} entries, at most {} are allowed", found->entries.size(), most));
    return std::nullopt;
  }
  std::map<std::string, std::int32_t> out;
  for (const auto& entry : found->entries) {
    const bool is_plain = entry.value.kind == YamlNode::Kind::Scalar && !entry.value.quoted;
    const auto value = is_plain ? integer_from(entry.value.text) : std::nullopt;
    if (value && *value >= min && *value <= max) {
      out.emplace(entry.key, static_cast<std::int32_t>(*value));
      continue;
    }
    const std::string what = entry.value.kind == YamlNode::Kind::Scalar ? shown(entry.value)
                                                                        : std::string(kind_name(entry.value));
    problems_.add(source_, entry.value.mark, fmt::format("{}.{}", path_of(key), entry.key),
                  fmt::format("{} is {}; write a whole number from {} to {}", what,
                              value ? "out of range" : "no whole number", min, max));
  }
  return out.size() == found->entries.size() ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<std::map<std::string, std::int64_t>> MapReader::amount_map(std::string_view key,
                                                                         std::int64_t min, std::int64_t max,
                                                                         std::size_t most) {
  const YamlNode* found = ask(key);
  if (found == nullptr) return std::nullopt;
  if (found->kind != YamlNode::Kind::Map || found->entries.size() > most) {
    refuse(key, found->kind != YamlNode::Kind::Map
                    ? fmt::format("found {}; a map like {{memory: 8GiB, cpu: 2}} is expected",
                                  kind_name(*found))
                    : fmt::format("{} entries, at most {} are allowed", found->entries.size(), most));
    return std::nullopt;
  }
  std::map<std::string, std::int64_t> out;
  for (const auto& entry : found->entries) {
    const bool is_scalar = entry.value.kind == YamlNode::Kind::Scalar;
    const auto value = is_scalar ? parse_size(entry.value.text) : fail(ErrorCode::InvalidArgument, "");
    if (value && *value >= min && *value <= max) {
      out.emplace(entry.key, *value);
      continue;
    }
    const std::string what = is_scalar ? shown(entry.value) : std::string(kind_name(entry.value));
    problems_.add(source_, entry.value.mark, fmt::format("{}.{}", path_of(key), entry.key),
                  fmt::format("{} is {}; write a whole number from {} to {}, or a size like 8GiB", what,
                              value ? "out of range" : "no amount", min, format_size(max)));
  }
  return out.size() == found->entries.size() ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<std::string> MapReader::words_of(const YamlNode& value, const std::string& path) {
  const bool is_list = value.kind == YamlNode::Kind::List;
  const std::size_t problems = problems_.size();
  if (is_list && value.items.empty()) {
    problems_.add(source_, value.mark, path, "the list is empty; name a word, or remove the key");
  }
  std::string all;
  for (std::size_t i = 0; i < (is_list ? value.items.size() : 1); ++i) {
    const YamlNode& word = is_list ? value.items[i] : value;
    const auto refuse_word = [&](const std::string& what) {
      problems_.add(source_, word.mark, is_list ? fmt::format("{}[{}]", path, i) : path, what);
    };
    if (word.kind != YamlNode::Kind::Scalar) {
      refuse_word(fmt::format("found {}; a word is expected{}", kind_name(word),
                              is_list ? "" : ", or a list of words"));
    } else if (word.text.empty()) {
      refuse_word("it is empty; write a word, or remove it");
    } else if (is_list && word.text.find(',') != std::string::npos) {
      refuse_word(fmt::format("{} has a comma; write each word as an item of the list", shown(word)));
    }
    all += (i == 0 ? "" : ",") + word.text;
  }
  return problems_.size() == problems ? std::optional(all) : std::nullopt;
}

std::optional<std::map<std::string, std::string>> MapReader::word_map(std::string_view key) {
  const YamlNode* found = ask(key);
  if (found == nullptr) return std::nullopt;
  if (found->kind != YamlNode::Kind::Map) {
    refuse(key, fmt::format("found {}; a map of words is expected", kind_name(*found)));
    return std::nullopt;
  }
  std::map<std::string, std::string> out;
  for (const auto& entry : found->entries) {
    auto words = words_of(entry.value, fmt::format("{}.{}", path_of(key), entry.key));
    if (words) out.emplace(entry.key, std::move(*words));
  }
  return out.size() == found->entries.size() ? std::optional(std::move(out)) : std::nullopt;
}

const YamlNode* MapReader::node(std::string_view key) { return ask(key); }

void MapReader::refuse_unknown() {
  const std::vector<std::string> known(asked_.begin(), asked_.end());
  for (const auto& entry : node_.entries) {
    if (asked_.contains(entry.key)) continue;
    if (problems_.is_full()) {
      problems_.count_one();
      continue;
    }
    problems_.add(source_, entry.key_mark, path_of(entry.key),
                  fmt::format("unknown key{}; allowed here: {}", did_you_mean(entry.key, known),
                              fmt::join(known, ", ")));
  }
}

}  // namespace rota::config
