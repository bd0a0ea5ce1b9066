#include "client/target.h"

#include <doctest/doctest.h>

namespace rota::client {
namespace {

ContextFile two_contexts() {
  ContextFile file;
  file.contexts["prod"] = {{"masters", "p:1"}, {"namespace", "finance"}};
  file.contexts["zk"] = {{"zookeeper", "z:2181"}, {"cluster", "big"}};
  return file;
}

Target chosen(const SaidSettings& options, const SaidSettings& environment, const ContextFile& file) {
  const auto target = choose_target(options, environment, file, "config.yaml");
  REQUIRE(target);
  return *target;
}

void check_said(const Target& target, const std::string& name, const std::string& value, const std::string& by) {
  CAPTURE(name);
  CHECK(target.settings.at(name).value == value);
  CHECK(target.settings.at(name).by == by);
}

}  // namespace

TEST_CASE("target: an option is stronger than the environment, this than the context, this than what is built in") {
  ContextFile file = two_contexts();
  file.current = "prod";
  check_said(chosen({}, {}, {}), "namespace", "default", "built in");
  check_said(chosen({}, {}, file), "namespace", "finance", "context prod");
  check_said(chosen({}, {{"namespace", "e"}}, file), "namespace", "e", "ROTA_NAMESPACE");
  check_said(chosen({{"namespace", "o"}}, {{"namespace", "e"}}, file), "namespace", "o", "--namespace");
  check_said(chosen({}, {{"namespace", ""}}, file), "namespace", "finance", "context prod");
  check_said(chosen({}, {}, file), "cluster", "rota", "built in");
  check_said(chosen({}, {}, file), "zookeeper", "", "not set");
}

TEST_CASE("target: the context is chosen by option, environment, and the file's current one") {
  ContextFile file = two_contexts();
  CHECK(chosen({}, {}, file).context.value.empty());
  file.current = "prod";
  CHECK(chosen({}, {}, file).context.value == "prod");
  CHECK(chosen({}, {{"context", "zk"}}, file).context.by == "ROTA_CONTEXT");
  CHECK(chosen({{"context", "prod"}}, {{"context", "zk"}}, file).context.by == "--context");
}

TEST_CASE("target: an unknown context is told, with who asks for it") {
  const auto told = choose_target({}, {{"context", "prid"}}, two_contexts(), "config.yaml");
  REQUIRE(!told);
  CHECK(told.error().message.find("has no context \"prid\"") != std::string::npos);
  CHECK(told.error().message.find("ROTA_CONTEXT asks for it") != std::string::npos);
}

TEST_CASE("target: masters of a context are not asked when a stronger voice names ZooKeeper") {
  ContextFile file = two_contexts();
  file.current = "prod";
  const Target target = chosen({{"zookeeper", "z:1"}}, {}, file);
  CHECK(target["masters"].empty());
  CHECK(target["zookeeper"] == "z:1");
  // Said by the same voice, masters are asked first.
  CHECK(chosen({}, {{"masters", "m:1"}, {"zookeeper", "z:1"}}, file)["masters"] == "m:1");
  // A weaker voice changes nothing: `rota lock` needs ZooKeeper beside the masters.
  const Target both = chosen({{"masters", "m:1"}}, {{"zookeeper", "z:1"}}, file);
  CHECK(both["masters"] == "m:1");
  CHECK(both["zookeeper"] == "z:1");
}

TEST_CASE("target: its words name context, place and namespace") {
  ContextFile file = two_contexts();
  CHECK(chosen({{"context", "prod"}}, {}, file).words() == "context prod: masters p:1, namespace finance");
  CHECK(chosen({{"context", "zk"}}, {}, file).words() ==
        "context zk: cluster big at ZooKeeper z:2181, namespace default");
  CHECK(chosen({{"masters", "m:1"}}, {}, {}).words() == "masters m:1, namespace default");
  CHECK(chosen({}, {}, {}).words() == "no cluster, namespace default");
}

}  // namespace rota::client
