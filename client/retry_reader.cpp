#include "client/retry_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "common/base/duration_text.h"
#include "common/model/retry_text.h"

namespace rota::client {
namespace {

using config::MapReader;
using config::YamlNode;

/// A number or a range, or a list of them, as "75,100-110"; none: it is neither.
std::optional<std::string> numbers_in(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::Scalar) return node.text;
  if (node.kind != YamlNode::Kind::List) return std::nullopt;
  std::string all;
  for (const YamlNode& item : node.items) {
    if (item.kind != YamlNode::Kind::Scalar) return std::nullopt;
    all += (all.empty() ? "" : ",") + item.text;
  }
  return all;
}

/// "timed_out", or {exit: …} or {signal: …} as the line that stands for it.
Result<std::string> line_of(const YamlNode& item) {
  std::string line = item.text;
  if (item.kind == YamlNode::Kind::Map && item.entries.size() == 1) {
    const auto numbers = numbers_in(item.entries.front().value);
    line = item.entries.front().key + " " + numbers.value_or("");
  } else if (item.kind != YamlNode::Kind::Scalar) {
    return fail(ErrorCode::InvalidArgument, "found what is no end of an attempt; write {exit: [75]}, "
                                            "{signal: [9]} or a word like timed_out");
  }
  const auto filter = model::end_filter_from_text(line);
  if (!filter) return fail(filter.error());
  return model::text_of(*filter);
}

std::string numbers_in_file(const std::vector<model::NumberRange>& ranges) {
  std::vector<std::string> out;
  for (const model::NumberRange& range : ranges) {
    const bool is_one = range.low == range.high;
    out.push_back(is_one ? std::to_string(range.low) : fmt::format("\"{}-{}\"", range.low, range.high));
  }
  return fmt::format("[{}]", fmt::join(out, ", "));
}

std::string end_in_file(const std::string& line) {
  const auto filter = model::end_filter_from_text(line);
  if (!filter) return nlohmann::json(line).dump();
  using Kind = model::EndFilter::Kind;
  if (filter->kind == Kind::Word) return filter->word;
  const char* const key = filter->kind == Kind::Exit ? "exit" : "signal";
  return fmt::format("{{{}: {}}}", key, numbers_in_file(filter->numbers));
}

}  // namespace

void read_ends(MapReader& map, std::string_view key, std::vector<std::string>& into) {
  const YamlNode* node = map.node(key);
  if (node == nullptr) return;
  const bool is_list = node->kind == YamlNode::Kind::List;
  if (is_list && node->items.empty()) {
    return map.refuse(key, "the list is empty; name an end, or remove the key");
  }
  for (const YamlNode& item : is_list ? node->items : std::vector{*node}) {
    auto line = line_of(item);
    if (!line) return map.refuse(key, line.error().message);
    into.push_back(std::move(*line));
  }
}

void read_again(MapReader& map, std::string_view key, std::string& into) {
  const YamlNode* node = map.node(key);
  if (node == nullptr) return;
  if (node->kind != YamlNode::Kind::Map) {
    return map.refuse(key, "a map is expected, like {exit: [75], every: 5m, at_most: 6h}");
  }
  std::string line;
  for (const YamlNode::Entry& entry : node->entries) {
    const auto value = numbers_in(entry.value);
    if (!value) return map.refuse(key, fmt::format("{} is no value, and no list of them", entry.key));
    line += (line.empty() ? "" : "; ") + entry.key + " " + *value;
  }
  const auto again = model::again_from_text(line);
  if (!again) return map.refuse(key, again.error().message);
  into = model::text_of(*again);
}

std::string ends_in_file(const std::vector<std::string>& lines) {
  std::vector<std::string> out;
  std::ranges::transform(lines, std::back_inserter(out), end_in_file);
  return fmt::format("[{}]", fmt::join(out, ", "));
}

std::string again_in_file(const std::string& line) {
  const auto again = model::again_from_text(line);
  if (!again) return nlohmann::json(line).dump();
  const std::string at_most =
      again->at_most > Millis{0} ? fmt::format(", at_most: {}", format_duration(again->at_most)) : "";
  return fmt::format("{{exit: {}, every: {}{}}}", numbers_in_file(again->exit), format_duration(again->every),
                     at_most);
}

}  // namespace rota::client
