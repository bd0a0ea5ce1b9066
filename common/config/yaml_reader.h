// A strict reader for the YAML that people write for Rota: configuration and job files. It accepts
// one document of maps, lists and scalars. It refuses what yaml-cpp silently accepts and what can
// attack the reader: repeated keys, further documents, anchors, aliases, merge keys, custom tags,
// great depth and size. Numbers and bools are read by our own rules: `010` is not a number and
// `yes` is not a bool.
//
// Use: read_yaml returns a tree; a MapReader for each map asks for the keys it knows and at the end
// reports all other keys. It collects every problem; no problem ends the reading.
// Thread: values; no shared state.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/time.h"
#include "common/config/problems.h"

namespace rota::config {

/// One node of a document. A plain value: copyable, owns its children.
struct YamlNode {
  enum class Kind { Null, Scalar, List, Map };
  struct Entry;

  Kind kind = Kind::Null;
  Mark mark;
  std::string text;             ///< Scalar: its content
  bool quoted = false;          ///< Scalar: it was in quotes or in a block, so it is text
  std::vector<YamlNode> items;  ///< List
  std::vector<Entry> entries;   ///< Map: in the order written, keys unique

  /// The value under `key`, or nullptr. Map only.
  const YamlNode* find(std::string_view key) const;
};

struct YamlNode::Entry {
  std::string key;
  Mark key_mark;
  YamlNode value;
};

/// Reads one document. An empty text is an empty map. Adds every problem to `problems`; returns no value
/// when the text could not be read at all. At most `most_bytes`, depth 32.
std::optional<YamlNode> read_yaml(const std::string& source, std::string_view text,
                                  Problems& problems, std::size_t most_bytes = std::size_t{4} << 20);

/// Reads one document from a file; the source of its problems is the path.
std::optional<YamlNode> read_yaml_file(const std::string& path, Problems& problems);

/// Strict readings of one scalar; empty when it is not of that type.
std::optional<std::int64_t> integer_from(std::string_view text);
std::optional<double> number_from(std::string_view text);
std::optional<bool> bool_from(std::string_view text);  ///< true or false, nothing else

/// Asks one map for its keys. Each accessor returns empty when the key is absent or null, and also
/// when its value is wrong; then it has added a problem. After the last question call
/// refuse_unknown once.
class MapReader {
 public:
  /// `node` and `problems` must outlive the reader. Messages put `path` before the keys ("jobs[2]").
  /// A node that is not a map is a problem at once (Null counts as an empty map).
  MapReader(const YamlNode& node, std::string source, std::string path, Problems& problems);

  bool has(std::string_view key);
  std::optional<std::string> text(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t min, std::int64_t max);
  std::optional<double> number(std::string_view key, double min, double max);
  /// "1h30m", "500ms", "0"; `min` and `max` included.
  std::optional<Millis> duration(std::string_view key, Millis min, Millis max);
  /// A number of bytes: "512MiB", "2GiB", "4096"; `min` and `max` included.
  std::optional<std::int64_t> size(std::string_view key, std::int64_t min, std::int64_t max);
  /// A moment: RFC 3339 with zone ("2026-03-29T02:30:00Z", "...+02:00").
  std::optional<WallTime> moment(std::string_view key);
  /// One of the words; anything else is a problem that lists them.
  std::optional<std::string> one_of(std::string_view key, const std::vector<std::string_view>& words);
  /// A list of scalars; a single scalar counts as a list of one when `or_single`.
  std::optional<std::vector<std::string>> texts(std::string_view key, bool or_single = false);
  /// A map of scalars.
  std::optional<std::map<std::string, std::string>> text_map(std::string_view key);
  /// Whole numbers from `min` to `max`, by name; at most so many.
  std::optional<std::map<std::string, std::int32_t>> count_map(std::string_view key, std::int32_t min,
                                                               std::int32_t max, std::size_t most);
  /// The same of 64 bits; a number may have a unit: 8GiB.
  std::optional<std::map<std::string, std::int64_t>> amount_map(std::string_view key, std::int64_t min,
                                                                std::int64_t max, std::size_t most);
  /// A map of words, or of lists of words: these come with commas between them.
  std::optional<std::map<std::string, std::string>> word_map(std::string_view key);
  /// The node itself, for nested maps and lists; nullptr when absent or null.
  const YamlNode* node(std::string_view key);
  /// The place of the value (or of the map), for problems that the caller finds.
  Mark mark_of(std::string_view key) const;
  /// Adds a problem at the key's value.
  void refuse(std::string_view key, std::string what);
  /// A key that has another name now is told so, and not offered among the allowed ones.
  void refuse_former(std::string_view former, std::string_view name);
  /// Adds a problem when the key is absent or null. True when it is there.
  bool require(std::string_view key, std::string_view what_it_is);
  /// Adds a problem for every key that nobody asked for, with the nearest known one.
  void refuse_unknown();

  const std::string& path() const { return path_; }
  /// The full path of a key of this map, as messages show it.
  std::string path_of(std::string_view key) const;

 private:
  std::optional<std::string> words_of(const YamlNode& value, const std::string& path);
  const YamlNode* ask(std::string_view key);
  const YamlNode* ask_scalar(std::string_view key, std::string_view expected);

  const YamlNode& node_;
  std::string source_;
  std::string path_;
  Problems& problems_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace rota::config
