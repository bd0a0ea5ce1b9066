#include "common/config/yaml_reader.h"

#include <doctest/doctest.h>

#include <random>

using namespace rota;
using namespace rota::config;

namespace {

struct Reading {
  std::optional<YamlNode> node;
  std::string problems;
};

Reading reading(const std::string& text) {
  Problems problems;
  auto node = read_yaml("f", text, problems);
  return {std::move(node), problems.text()};
}

bool yaml_holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("yaml: a line of a million brackets is refused before it is read") {
  CHECK(reading("a: 1\nb: " + std::string(1'000'001, '[')).problems ==
        "f:2:1: more than 1000000 brackets and commas in one line; break it\n");
  CHECK(yaml_holds(reading("a: 1\nb: " + std::string(1000, '[')).problems, "nested deeper"));
}

TEST_CASE("yaml: keeps order, positions and quotes") {
  const auto read = reading("b: 1\na:\n  - x\n  - \"1\"\nc: |\n  two\n  lines\n");
  REQUIRE(read.node);
  CHECK(read.problems.empty());
  REQUIRE(read.node->entries.size() == 3);
  CHECK(read.node->entries[0].key == "b");
  CHECK(read.node->entries[1].key_mark == Mark{2, 1});
  CHECK_FALSE(read.node->find("b")->quoted);
  CHECK(read.node->find("a")->items[1].quoted);
  CHECK(read.node->find("a")->items[1].mark == Mark{4, 5});
  CHECK(read.node->find("c")->text == "two\nlines\n");
  CHECK(read.node->find("z") == nullptr);
}

TEST_CASE("yaml: an escape of a non-ASCII character gives the whole character") {
  const auto read = reading("a: \"x\\Ny\\_z\\u00e9\\xe9\\N\"\n\"\\N\": 1\n");
  REQUIRE(read.node);
  CHECK(read.node->find("a")->text == "x\u0085y\u00a0z\u00e9\u00e9\u0085");
  CHECK(read.node->find("\u0085") != nullptr);
}

TEST_CASE("yaml: an empty text is an empty document") {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n"}) {
    const auto read = reading(text);
    REQUIRE(read.node);
    CHECK(read.node->kind == YamlNode::Kind::Null);
    CHECK(read.problems.empty());
  }
}

TEST_CASE("yaml: refuses texts that could be misread") {
  CHECK(yaml_holds(reading("a: 1\nb: {x: 1, x: 2}\n").problems,
              "f:2:11 b.x: this key appears twice (first in line 2)"));
  CHECK(yaml_holds(reading("a: 1\n---\nb: 2\n").problems, "f:2:1: a second document begins here"));
  CHECK(yaml_holds(reading("a: &x 1\nb: *x\n").problems, "f:1:4 a: an anchor (&name) is not allowed"));
  CHECK(yaml_holds(reading("a: &x 1\nb: *x\n").problems, "f:2:4 b: an alias (*name) is not allowed"));
  CHECK(yaml_holds(reading("a: !!int 1\n").problems, "a tag (!name) is not allowed"));
  CHECK(yaml_holds(reading("[a]: 1\n").problems, "a key must be a plain word"));
  CHECK(yaml_holds(reading("a: [1\n").problems, "this is no YAML"));
  CHECK(yaml_holds(reading("a: b: c\n").problems, "this is no YAML"));
  CHECK(yaml_holds(reading(std::string("a: \0", 4)).problems, "zero byte"));
  CHECK(yaml_holds(reading(std::string(5u << 20, 'a')).problems, "longer than"));
}

TEST_CASE("yaml: depth is bounded") {
  CHECK(yaml_holds(reading(std::string(40, '[') + std::string(40, ']')).problems, "nested deeper"));
  CHECK_FALSE(reading(std::string(100'000, '[')).problems.empty());
  CHECK_FALSE(reading(std::string(100'000, '{')).problems.empty());
}

TEST_CASE("yaml: aliases cannot multiply") {
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c <= 'i'; ++c) {
    const char p = static_cast<char>(c - 1);
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 9; ++i) bomb += std::string(i ? ",*" : "*") + p;
    bomb += "]\n";
  }
  CHECK(yaml_holds(reading(bomb).problems, "an alias (*name) is not allowed"));
}

TEST_CASE("yaml: garbage gives problems and is never fatal") {
  const std::string seed_text =
      "id: m1\nlisten: {host: 127.0.0.1, port: 0}\nlist:\n  - a\n  - \"b\\n\"\nc: |\n  x\n'q': ~\n";
  std::mt19937 random(4711);
  constexpr std::string_view kMarks = "{}[]:,-#&*!|>'\"%@`?\n\t \\x~=<";
  for (int round = 0; round < 4000; ++round) {
    std::string text = seed_text;
    const auto edits = 1 + random() % 6;
    for (unsigned edit = 0; edit < edits; ++edit) {
      const auto at = random() % text.size();
      const char c =
          random() % 3 == 0 ? static_cast<char>(random() % 256) : kMarks[random() % kMarks.size()];
      if (random() % 3 == 0) {
        text.erase(at, 1 + random() % 4);
      } else if (random() % 2 == 0) {
        text.insert(at, 1, c);
      } else {
        text[at] = c;
      }
      if (text.empty()) text = ":";
    }
    Problems problems;
    const auto node = read_yaml("f", text, problems);
    CHECK((node.has_value() || !problems.empty()));
  }
}
