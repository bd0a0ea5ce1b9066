#include "client/command/text_diff.h"

#include <doctest/doctest.h>

namespace rota::client {

TEST_CASE("text diff: shows removed and added lines, and no unchanged ones") {
  CHECK(text_diff("a\nb\nc\n", "a\nb\nc\n") == "");
  CHECK(text_diff("a\nb\nc\n", "a\nx\nc\n") == "-b\n+x\n");
  CHECK(text_diff("a\nb\nc\nd\n", "a\nc\nd\ne\n") == "-b\n+e\n");
  CHECK(text_diff("", "a\nb") == "+a\n+b\n");
  CHECK(text_diff("a\n", "") == "-a\n");
  CHECK(text_diff("b\n", "\x1b[31m\n") == "-b\n+\\x1b[31m\n");
}

TEST_CASE("text diff: the cost of long texts grows with their length") {
  std::string many;
  for (int i = 0; i < 100'000; ++i) many += std::to_string(i) + "\n";
  CHECK(text_diff(many, many + "end\n") == "+end\n");
  CHECK(text_diff("x\n" + many, many + "y\n").size() > many.size());
}

}  // namespace rota::client
