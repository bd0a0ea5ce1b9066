#include "client/command/work_text.h"

#include <doctest/doctest.h>
#include <job_types.h>

namespace rota::client {

namespace {

thrift::Work command(std::vector<std::string> argv) {
  thrift::Work work;
  work.__set_handler("command");
  work.__set_argv(std::move(argv));
  return work;
}

}  // namespace

TEST_CASE("work text: a shown command can be given to a shell") {
  CHECK(work_text(command({"/bin/sh", "-c", "echo \"it's\" $HOME"})) ==
        R"(/bin/sh -c 'echo "it'\''s" $HOME')");
  CHECK(work_text(command({"dump", "", "--to=a/b"})) == "dump '' --to=a/b");
}

TEST_CASE("work text: cuts long texts") {
  const std::string text = work_text(command({"x", std::string(1000, 'a'), "b"}));
  CHECK(text.size() == 204);
  CHECK(text.ends_with("a ..."));
}

TEST_CASE("work text: a script shows its interpreter and first line, a handler its name") {
  thrift::Work work;
  work.__set_handler("command");
  work.__set_interpreter("bash");
  work.__set_script("set -e\nfalse\n");
  CHECK(work_text(work) == "bash script: set -e ...");
  work.__set_script("true\n");
  CHECK(work_text(work) == "bash script: true");
  work.__set_handler("http");
  CHECK(work_text(work) == "handler http");
}

}  // namespace rota::client
