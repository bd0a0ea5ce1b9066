#include "worker/command_line.h"

#include <doctest/doctest.h>

namespace rota::worker {

TEST_CASE("command_line: reads what rota-worker is asked for") {
  using What = CommandLine::What;
  CHECK(parse_command_line({})->what == What::Run);
  const auto run = parse_command_line({"--config", "a.yaml"});
  CHECK(run->what == What::Run);
  CHECK(run->config == "a.yaml");
  CHECK(parse_command_line({"--check-config", "--config", "a"})->what == What::CheckConfig);
  const auto sweep = parse_command_line({"--sweep", "--state-dir", "/s"});
  CHECK(sweep->what == What::Sweep);
  CHECK(sweep->state_dir == "/s");
  const auto handler = parse_command_line({"--handler", "report"});
  CHECK(handler->what == What::Handler);
  CHECK(handler->handler == "report");
}

TEST_CASE("command_line: says which word is wrong") {
  CHECK(parse_command_line({"--confg"}).error().message == "unknown argument '--confg'");
  CHECK(parse_command_line({"--config"}).error().message == "--config needs a value");
  CHECK_FALSE(parse_command_line({"--sweep"}));
}

}  // namespace rota::worker
