// Turns yaml-cpp's events into our own tree. The only file that includes yaml-cpp.
#include "common/config/yaml_reader.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/base/file.h"
#include "common/base/utf8.h"

namespace rota::config {
namespace {

constexpr std::size_t kMostBytes = 4u << 20;
constexpr std::size_t kMostDepth = 32;
// For a line with brackets, yaml-cpp keeps some 240 bytes for each mark until the line ends.
constexpr std::size_t kMostMarksInLine = 1'000'000;

Mark mark_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

/// yaml-cpp 0.7 returns `\N` (U+0085) and `\_` (U+00A0) as one byte each; everything else that it returns for
/// a valid document is UTF-8.
std::string with_whole_characters(const std::string& value) {
  if (is_utf8(value)) return value;
  std::string out;
  for (std::string_view left = value; !left.empty();) {
    const std::size_t bytes = first_character(left).bytes;
    if (bytes == 0) out += '\xC2';
    out += left.substr(0, std::max<std::size_t>(bytes, 1));
    left.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out;
}

/// Builds the tree of one document and notes the problems. A node inside a refused part is still
/// read, so that its own problems are found in the same run.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& source, Problems& problems)
      : source_(source), problems_(problems) {}

  YamlNode accept_root() { return std::move(root_); }
  Mark start() const { return start_; }

  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark_of(mark); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse_anchor(mark, anchor);
    finish(node_at(YamlNode::Kind::Null, mark));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(mark, "an alias (*name) is not allowed; write the value itself");
    finish(node_at(YamlNode::Kind::Null, mark));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_anchor(mark, anchor);
    refuse_tag(mark, tag);
    YamlNode node = node_at(YamlNode::Kind::Scalar, mark);
    node.text = with_whole_characters(value);
    node.quoted = tag == "!";
    finish(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::List, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::Map, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  /// The list or map that is being read; for a map, also the key whose value comes next.
  struct Frame {
    YamlNode node;
    bool has_key = false;
    std::string key;
    Mark key_mark;
    std::map<std::string, Mark> seen;  ///< the map's keys so far
  };

  static YamlNode node_at(YamlNode::Kind kind, const YAML::Mark& mark) {
    YamlNode node;
    node.kind = kind;
    node.mark = mark_of(mark);
    return node;
  }

  void refuse(const YAML::Mark& mark, std::string what) { refuse(mark_of(mark), std::move(what)); }
  void refuse(Mark mark, std::string what) {
    if (problems_.is_full()) return problems_.count_one();
    problems_.add(source_, mark, path(), what);
  }
  void refuse_anchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != 0) refuse(mark, "an anchor (&name) is not allowed; write the value where needed");
  }
  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    refuse(mark, "a tag (!name) is not allowed; leave it out");
  }

  std::string path() const;
  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor);
  void close();
  void finish(YamlNode node);
  void finish_in_map(Frame& frame, YamlNode node);

  const std::string& source_;
  Problems& problems_;
  std::vector<Frame> frames_;
  YamlNode root_;
  Mark start_;
  bool too_deep_ = false;
};

std::string TreeBuilder::path() const {
  std::string out;
  for (const auto& frame : frames_) {
    if (frame.node.kind == YamlNode::Kind::List) {
      out += fmt::format("[{}]", frame.node.items.size());
    } else if (frame.has_key) {
      out += (out.empty() ? "" : ".") + frame.key;
    }
  }
  return out;
}

void TreeBuilder::open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor) {
  refuse_anchor(mark, anchor);
  refuse_tag(mark, tag);
  if (frames_.size() == kMostDepth && !std::exchange(too_deep_, true)) {
    refuse(mark, fmt::format("nested deeper than {} levels", kMostDepth));
  }
  frames_.push_back({node_at(kind, mark), false, {}, {}, {}});
}

void TreeBuilder::close() {
  YamlNode node = std::move(frames_.back().node);
  frames_.pop_back();
  if (frames_.size() >= kMostDepth) node = YamlNode{};  // already refused
  finish(std::move(node));
}

void TreeBuilder::finish(YamlNode node) {
  if (frames_.empty()) {
    root_ = std::move(node);
  } else if (frames_.back().node.kind == YamlNode::Kind::List) {
    frames_.back().node.items.push_back(std::move(node));
  } else {
    finish_in_map(frames_.back(), std::move(node));
  }
}

void TreeBuilder::finish_in_map(Frame& frame, YamlNode node) {
  if (!frame.has_key) {
    if (node.kind != YamlNode::Kind::Scalar) {
      refuse(node.mark, "a key must be a plain word");
    }
    frame.key = node.text;
    frame.key_mark = node.mark;
    frame.has_key = true;
    return;
  }
  const auto [first, is_new] = frame.seen.emplace(frame.key, frame.key_mark);
  if (!is_new) {
    refuse(frame.key_mark, fmt::format("this key appears twice (first in line {}); keep one of them",
                                       first->second.line));
  } else {
    frame.node.entries.push_back({frame.key, frame.key_mark, std::move(node)});
  }
  frame.has_key = false;
}

/// Line and column of a byte. The column counts characters, as yaml-cpp does.
Mark place_of(std::string_view text, std::size_t at) {
  Mark mark{1, 1};
  for (const char c : text.substr(0, at)) {
    const bool continues = (static_cast<unsigned char>(c) & 0xC0u) == 0x80u;
    mark.line += c == '\n' ? 1 : 0;
    mark.column = c == '\n' ? 1 : mark.column + (continues ? 0 : 1);
  }
  return mark;
}

/// The line with more brackets and commas than that; 0: none.
int overfull_line(std::string_view text) {
  int line = 1;
  std::size_t marks = 0;
  for (const char c : text) {
    if (c == '\n') {
      ++line;
      marks = 0;
    } else if (c == '[' || c == '{' || c == ',') {
      if (++marks > kMostMarksInLine) return line;
    }
  }
  return 0;
}

std::string without_prefix(const YAML::Exception& error) {
  return error.msg.empty() ? "this is no YAML" : "this is no YAML: " + error.msg;
}

/// Reads the first document, and refuses a second one.
std::optional<YamlNode> read_documents(const std::string& source, std::string_view text,
                                       Problems& problems) {
  std::istringstream stream{std::string(text)};
  YAML::Parser parser(stream);
  TreeBuilder first(source, problems);
  if (!parser.HandleNextDocument(first)) return YamlNode{};
  Problems of_the_second;
  TreeBuilder second(source, of_the_second);
  if (parser.HandleNextDocument(second)) {
    problems.add(source, second.start(), "",
                 "a second document begins here; a file may have only one (remove the line ---)");
  }
  return first.accept_root();
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const auto& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::optional<YamlNode> read_yaml(const std::string& source, std::string_view text,
                                  Problems& problems, std::size_t most_bytes) {
  if (text.size() > most_bytes) {
    problems.add(source, {}, "", fmt::format("longer than {} bytes", most_bytes));
    return std::nullopt;
  }
  if (const auto broken = broken_utf8_at(text)) {
    problems.add(source, place_of(text, *broken), "",
                 fmt::format("this is not UTF-8: byte {:#04x} at offset {} is part of no character; save the "
                             "file as UTF-8", static_cast<unsigned char>(text[*broken]), *broken));
    return std::nullopt;
  }
  if (text.find('\0') != std::string_view::npos) {
    problems.add(source, {}, "", "this is not a text: it contains a zero byte");
    return std::nullopt;
  }
  if (const int line = overfull_line(text); line > 0) {
    problems.add(source, {line, 1}, "",
                 fmt::format("more than {} brackets and commas in one line; break it", kMostMarksInLine));
    return std::nullopt;
  }
  try {
    return read_documents(source, text, problems);
  } catch (const YAML::Exception& error) {
    problems.add(source, mark_of(error.mark), "", without_prefix(error));
  } catch (const std::exception& error) {
    problems.add(source, {}, "", fmt::format("this is no YAML: {}", error.what()));
  }
  return std::nullopt;
}

std::optional<YamlNode> read_yaml_file(const std::string& path, Problems& problems) {
  const auto text = read_file(path, kMostBytes);
  if (!text) {
    problems.add(path, {}, "", text.error().message);
    return std::nullopt;
  }
  return read_yaml(path, *text, problems);
}

}  // namespace rota::config
