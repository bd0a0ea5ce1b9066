#include <doctest/doctest.h>

#include "common/config/yaml_reader.h"

using namespace rota;
using namespace rota::config;
using namespace std::chrono_literals;

namespace {

/// A reader over a text, with everything that it refers to.
struct Fixture {
  explicit Fixture(const std::string& text) : node(read_yaml("f", text, problems).value()) {}
  Problems problems;
  YamlNode node;
  MapReader map{node, "f", "", problems};
};

bool map_holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("scalars: numbers and bools are strict") {
  CHECK(integer_from("0") == 0);
  CHECK(integer_from("-12") == -12);
  for (const char* text :
       {"", "-", "010", "+1", "1_000", "0x10", "1.0", " 1", "1 ", "1e3", "99999999999999999999"}) {
    CAPTURE(text);
    CHECK_FALSE(integer_from(text));
  }
  CHECK(number_from("1.5") == 1.5);
  CHECK(number_from("-2e3") == -2000);
  for (const char* text : {"", ".5", "1.", "01.5", "nan", "inf", "1e999", "1.5x", "0x1p3"}) {
    CAPTURE(text);
    CHECK_FALSE(number_from(text));
  }
  CHECK(bool_from("true") == true);
  CHECK(bool_from("false") == false);
  for (const char* text : {"yes", "no", "on", "True", "TRUE", "1", ""})
    CHECK_FALSE(bool_from(text));
}

TEST_CASE("map reader: reads present keys and returns empty for absent ones") {
  Fixture f(
      "name: x\nretries: 3\nfactor: 1.5\nwait: true\ntimeout: 1h30m\n"
      "start: 2026-03-29T02:30:00Z\noverlap: skip\ncommand: [a, \"b c\"]\nenv: {A: 1, B: }\n");
  CHECK(f.map.text("name") == "x");
  CHECK(f.map.integer("retries", 0, 10) == 3);
  CHECK(f.map.number("factor", 1, 100) == 1.5);
  CHECK(f.map.boolean("wait") == true);
  CHECK(f.map.duration("timeout", 0ms, 24h) == 90min);
  CHECK(to_ms(f.map.moment("start").value()) == 1'774'751'400'000);
  CHECK(f.map.one_of("overlap", {"skip", "allow", "queue"}) == "skip");
  CHECK(f.map.texts("command") == std::vector<std::string>{"a", "b c"});
  CHECK(f.map.text_map("env") == std::map<std::string, std::string>{{"A", "1"}, {"B", ""}});
  CHECK_FALSE(f.map.text("owner"));
  f.map.refuse_unknown();
  CHECK(f.problems.empty());
}

TEST_CASE("map reader: collects every problem with its place") {
  Fixture f(
      "nmae: x\nretries: many\nfactor: 0.5\nwait: yes\ntimeout: 5\nstart: tomorrow\n"
      "overlap: skipp\ncommand: {a: b}\nenv: {A: [1]}\n");
  CHECK_FALSE(f.map.require("name", "the job's name"));
  f.map.integer("retries", 0, 10);
  f.map.number("factor", 1, 100);
  f.map.boolean("wait");
  f.map.duration("timeout", 0ms, 24h);
  f.map.moment("start");
  f.map.one_of("overlap", {"skip", "allow", "queue"});
  f.map.texts("command");
  f.map.text_map("env");
  f.map.refuse_unknown();
  const std::string text = f.problems.text();
  INFO(text);
  CHECK(map_holds(text, "f:1:1 nmae: unknown key (did you mean name?)"));
  CHECK(map_holds(text, "name: is missing; give the job's name"));
  CHECK(map_holds(text, "f:2:10 retries: many is no whole number; write a whole number from 0 to 10"));
  CHECK(map_holds(text, "f:3:9 factor: 0.5 is out of range"));
  CHECK(map_holds(text, "f:4:7 wait: yes is no bool; write true or false"));
  CHECK(map_holds(text, "f:5:10 timeout: '5' is no duration"));
  CHECK(map_holds(text, "f:6:8 start: 'tomorrow' is no moment"));
  CHECK(map_holds(text, "f:7:10 overlap: skipp is not known here (did you mean skip?)"));
  CHECK(map_holds(text, "command: found a map; a list of texts is expected"));
  CHECK(map_holds(text, "f:9:10 env.A: found a list; a text is expected"));
  CHECK(f.problems.size() == 10);
}

TEST_CASE("map reader: a node that is not a map is reported once") {
  Problems problems;
  const auto node = read_yaml("f", "- a\n", problems).value();
  MapReader map(node, "f", "jobs[0]", problems);
  CHECK_FALSE(map.text("name"));
  map.refuse_unknown();
  CHECK(problems.text() == "f:1:1 jobs[0]: found a list; a map (key: value) is expected\n");
}

TEST_CASE("map reader: a single text counts as a list if the caller allows it") {
  Fixture f("command: echo hello\n");
  CHECK(f.map.texts("command", true) == std::vector<std::string>{"echo hello"});
}
