#include "client/command/yaml_text.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include <yaml-cpp/yaml.h>

namespace rota::client::test {

using nlohmann::json;

TEST_CASE("yaml_text: writes maps and lists in block form") {
  const json value = {{"name", "a"}, {"list", {1, {{"b", true}, {"c", nullptr}}}}, {"none", json::array()}};
  CHECK(yaml_text(value) == "list:\n  - 1\n  - b: true\n    c: null\nname: \"a\"\nnone: []\n");
  CHECK(yaml_text(json::array()) == "[]\n");
  CHECK(yaml_text(json::array({json::array({1, 2})})) == "- \n  - 1\n  - 2\n");
}

TEST_CASE("yaml_text: a text is never read back as something else") {
  for (const char* text : {"yes", "010", "2026-01-01", "null", "- a", "a: b", "#", "", "line\nbreak", "\xc3\xa9"}) {
    const YAML::Node back = YAML::Load(yaml_text({{"value", text}}));
    CHECK(back["value"].as<std::string>() == text);
    CHECK(back["value"].Tag() == "!");  // it was quoted
  }
}

TEST_CASE("yaml_text: a key that YAML reads as something else is quoted") {
  CHECK(yaml_text({{"on", 1}}) == "\"on\": 1\n");
  CHECK(yaml_text({{"a b", 1}}) == "\"a b\": 1\n");
  CHECK(yaml_text({{"stdout_bytes", 1}}) == "stdout_bytes: 1\n");
}

TEST_CASE("yaml_text: broken UTF-8 is replaced") {
  CHECK(yaml_text({{"value", "a\xff"}}) == "value: \"a\xef\xbf\xbd\"\n");
}

}  // namespace rota::client::test
