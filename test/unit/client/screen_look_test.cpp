#include "client/command/screen_look.h"

#include <doctest/doctest.h>

#include <clocale>

namespace rota::client {

TEST_CASE("cut_line: takes whole characters, and wide ones count twice") {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  CHECK(cut_line("abc", 2) == "ab");
  CHECK(cut_line("abc", 3) == "abc");
  CHECK(cut_line("作业x", 4) == "作业");
  CHECK(cut_line("作业x", 3) == "作");
  CHECK(cut_line("", 3).empty());
}

TEST_CASE("drawn_look: draws over the look before, and clears what was longer") {
  CHECK(drawn_look("a\nb\n", {10, 80}, false) == "\x1b[Ha\x1b[K\nb\x1b[K\n\x1b[J");
  CHECK(drawn_look("a\n", {10, 80}, true) == "\x1b[H\x1b[2Ja\x1b[K\n\x1b[J");
}

TEST_CASE("drawn_look: a screen that is too small shows how many lines are missing") {
  CHECK(drawn_look("1\n2\n3\n", {4, 80}, false) == "\x1b[H1\x1b[K\n2\x1b[K\n3\x1b[K\n\x1b[J");
  CHECK(drawn_look("1\n2\n3\n4\n5\n", {4, 80}, false) ==
        "\x1b[H1\x1b[K\n2\x1b[K\n... and 3 more lines\x1b[K\n\x1b[J");
  CHECK(drawn_look("a long line\n", {4, 6}, false) == "\x1b[Ha long\x1b[K\n\x1b[J");
}

TEST_CASE("without_ages: a document that differs in ages alone is the same") {
  CHECK(without_ages(R"({"age_ms":17,"state":"online","vitals":{"age_ms":204}})") ==
        without_ages(R"({"age_ms":2017,"state":"online","vitals":{"age_ms":4}})"));
  CHECK(without_ages("vitals:\n  age_ms: 17\n") == without_ages("vitals:\n  age_ms: 2\n"));
  CHECK(without_ages(R"({"age_ms":17,"state":"online"})") != without_ages(R"({"age_ms":17,"state":"away"})"));
  CHECK(without_ages(R"({"age_ms":null,"x":1})") == R"({"age_ms":null,"x":1})");
}

}  // namespace rota::client
