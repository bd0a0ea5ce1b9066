#include "client/command/completion.h"

#include <doctest/doctest.h>

namespace rota::client::test {
namespace {

CommandWord tree() {
  CommandWord root;
  root.options = {{{"--output", "-o"}, "table, json or yaml", true, {"table", "json", "yaml"}, Place::None},
                  {{"--masters"}, "", true, {}, Place::None},
                  {{"--context"}, "", true, {}, Place::ContextName}};
  CommandWord show{"show", "one job", {}, {}, Place::Job};
  CommandWord list{"list", "all jobs", {{{"--limit"}, "", true, {}, Place::None},
                                        {{"--watch", "-w"}, "", false, {}, Place::None},
                                        {{"--worker"}, "", true, {}, Place::Worker}}, {}, Place::None};
  root.children = {{"job", "saved jobs", {}, {show, list}, Place::None}, {"verify", "", {}, {}, Place::None}};
  return root;
}

std::vector<std::string> words_of(const Completions& found) {
  std::vector<std::string> out;
  for (const Completion& each : found.words) out.push_back(each.word);
  return out;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("complete: offers the commands that begin with the last word") {
  CHECK(words_of(complete(tree(), {""})) == Words{"job", "verify"});
  CHECK(words_of(complete(tree(), {"jo"})) == Words{"job"});
  CHECK(words_of(complete(tree(), {"job", ""})) == Words{"show", "list"});
  CHECK(words_of(complete(tree(), {})) == Words{"job", "verify"});
}

TEST_CASE("complete: offers a command's options and those of its parents") {
  CHECK(words_of(complete(tree(), {"job", "list", "--"})) ==
        Words{"--limit", "--watch", "--worker", "--output", "--masters", "--context"});
  CHECK(words_of(complete(tree(), {"job", "list", "-"})).size() == 8);
}

TEST_CASE("complete: the value of an option is not a command") {
  CHECK(words_of(complete(tree(), {"-o", ""})) == Words{"table", "json", "yaml"});
  CHECK(words_of(complete(tree(), {"--output", "y"})) == Words{"yaml"});
  CHECK(words_of(complete(tree(), {"--masters", "job", ""})) == Words{"job", "verify"});
  CHECK(words_of(complete(tree(), {"job", "--masters", ""})).empty());
  CHECK(complete(tree(), {"job", "list", "--worker", "w"}).place == Place::Worker);
  CHECK(complete(tree(), {"--context", "pr"}).place == Place::ContextName);
  // A flag takes none.
  CHECK(complete(tree(), {"job", "-w", "show", ""}).place == Place::Job);
}

TEST_CASE("complete: asks for names only for a command's first positional, and for nothing after --") {
  CHECK(complete(tree(), {"job", "show", "a"}).place == Place::Job);
  CHECK(complete(tree(), {"job", "show", "a", ""}).place == Place::None);
  CHECK(words_of(complete(tree(), {"job", "--", ""})).empty());
}

TEST_CASE("completion_script: there is one for bash, zsh and fish") {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    CHECK(completion_script(shell).find("rota --complete") != std::string_view::npos);
  }
  CHECK(completion_script("csh").empty());
}

}  // namespace rota::client::test
