#include "common/model/template_text.h"

#include <doctest/doctest.h>

namespace rota::model {

namespace {

std::string expand(const std::string& word) {
  return expanded_cleanup({word}, RunId{7}, 2, {{"x", "a b"}, {"braces", "{{run}}"}}).front();
}

std::string told(const std::string& word) {
  const auto problem = cleanup_problem(word, {{"x", "1"}});
  return problem ? std::to_string(problem->at) + " " + problem->text : "";
}

}  // namespace

TEST_CASE("template_text: run, attempt and parameters stand for their values") {
  CHECK(expand("rota-{{run}}-{{attempt}}") == "rota-7-2");
  CHECK(expand("{{param.x}}") == "a b");
  CHECK(expand("") == "");
  CHECK(expand("no braces { } }}") == "no braces { } }}");
}

TEST_CASE("template_text: four braces are two, and values are not expanded again") {
  CHECK(expand("{{{{run}}") == "{{run}}");
  CHECK(expand("{{{{{{run}}") == "{{7");
  CHECK(expand("{{param.braces}}") == "{{run}}");
}

TEST_CASE("template_text: a name that is not known is told with its place") {
  const std::string remedy = "; write {{run}}, {{attempt}} or {{param.NAME}} of a parameter that the job gives, or {{{{ "
                             "for two braces";
  CHECK(told("{{run}} {{attempt}} {{param.x}} {{{{") == "");
  CHECK(told("a-{{tick}}") == "2 {{tick}} is not known here" + remedy);
  CHECK(told("{{run}}{{param.y}}") == "7 {{param.y}} is not known here" + remedy);
  CHECK(told("{{ run }}") == "0 {{ run }} is not known here" + remedy);
  CHECK(told("{{param.}}") == "0 {{param.}} is not known here" + remedy);
  CHECK(told("x{{run") == "1 {{ is not closed" + remedy);
  CHECK(told("{{}}") == "0 {{}} is not known here" + remedy);
}

}  // namespace rota::model
