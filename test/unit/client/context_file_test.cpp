#include "client/context_file.h"

#include <doctest/doctest.h>

namespace rota::client {
namespace {

ContextFile read(const std::string& text) {
  config::Problems problems;
  ContextFile file = read_context_file("config.yaml", text, problems);
  CHECK(problems.text() == "");
  return file;
}

std::string told_of(const std::string& text) {
  config::Problems problems;
  read_context_file("config.yaml", text, problems);
  return problems.text();
}

}  // namespace

TEST_CASE("context file: is read, and written so that it is read as the same") {
  const ContextFile file = read(
      "current: prod\n"
      "contexts:\n"
      "  prod: {zookeeper: 'zk1:2181,zk2:2181', cluster: big, namespace: finance}\n"
      "  test: {masters: ['127.0.0.1:7400', 'b:7401']}\n");
  CHECK(file.current == "prod");
  CHECK(file.contexts.at("prod") ==
        Context{{"zookeeper", "zk1:2181,zk2:2181"}, {"cluster", "big"}, {"namespace", "finance"}});
  CHECK(file.contexts.at("test") == Context{{"masters", "127.0.0.1:7400,b:7401"}});
  const ContextFile again = read(context_file_text(file));
  CHECK(again.current == file.current);
  CHECK(again.contexts == file.contexts);
}

TEST_CASE("context file: an empty one has no contexts") {
  CHECK(read("").contexts.empty());
  CHECK(read(context_file_text({})).contexts.empty());
}

TEST_CASE("context file: each problem has its place, value and remedy") {
  CHECK(told_of("contexts:\n  a: {masters: here}\n") ==
        "config.yaml:2:16 contexts.a.masters: \"here\" is no list of servers; write host:port, separated by "
        "commas without spaces\n");
  CHECK(told_of("contexts:\n  a: {master: 'h:1'}\n").starts_with("config.yaml:2:7 contexts.a.master: "));
  CHECK(told_of("contexts:\n  a: {master: 'h:1'}\n").find("masters") != std::string::npos);
  CHECK(told_of("current: b\ncontexts:\n  a: {masters: 'h:1'}\n").find("there is no context \"b\"") !=
        std::string::npos);
  CHECK(told_of("contexts:\n  a b: {masters: 'h:1'}\n").starts_with("config.yaml:2:3 contexts.a b: "));
  CHECK(told_of("contexts: [a]\n").find("takes a map") != std::string::npos);
  CHECK(told_of("contexts:\n  a: {cluster: Big}\n").find("is no name of a cluster") != std::string::npos);
}

TEST_CASE("context_named: one that is not there is told with those that are") {
  const ContextFile file = read("contexts:\n  prod: {masters: 'h:1'}\n  test: {masters: 'h:2'}\n");
  CHECK(context_named(file, "prod", "config.yaml"));
  const auto told = context_named(file, "prd", "config.yaml");
  REQUIRE(!told);
  CHECK(told.error().message == "config.yaml has no context \"prd\" (did you mean prod?); it has: prod, test");
}

TEST_CASE("context_file_path: by the XDG specification a relative folder counts as not set") {
  CHECK(context_file_path("/x", "/h") == "/x/rota/config.yaml");
  CHECK(context_file_path("", "/h") == "/h/.config/rota/config.yaml");
  CHECK(context_file_path("x", "/h") == "/h/.config/rota/config.yaml");
  CHECK(context_file_path("", "").empty());
}

}  // namespace rota::client
