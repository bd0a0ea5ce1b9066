// The YAML reader for configuration, and its typed access.
#include "common/config/yaml_reader.h"

#include "common/base/utf8.h"
#include "test/fuzz/judge.h"

using rota::config::MapReader;
using rota::config::YamlNode;

namespace {

std::size_t depth_of(const YamlNode& node) {
  std::size_t deepest = 0;
  for (const auto& item : node.items) deepest = std::max(deepest, depth_of(item));
  for (const auto& entry : node.entries) deepest = std::max(deepest, depth_of(entry.value));
  return deepest + 1;
}

void ask(const YamlNode& node, rota::config::Problems& problems) {
  MapReader map(node, "f", "", problems);
  map.text("text");
  map.boolean("bool");
  map.integer("integer", -5, 5);
  map.number("number", 0.5, 2.5);
  map.duration("duration", rota::Millis{1}, rota::Millis{1000});
  map.size("size", 1, 1 << 30);
  map.moment("moment");
  map.one_of("word", {"one", "other"});
  map.texts("texts", true);
  map.text_map("map");
  map.refuse_unknown();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  rota::config::Problems problems;
  const auto node = rota::config::read_yaml("f", {reinterpret_cast<const char*>(data), size}, problems);
  if (node) {
    rota::fuzz::demand(depth_of(*node) <= 34, "the tree is not deep");
    ask(*node, problems);
  }
  const std::string told = problems.text();
  rota::fuzz::demand(rota::is_utf8(told) && told.size() < 200'000, "problems are short and valid", told);
  return 0;
}
