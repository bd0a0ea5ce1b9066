#include "client/command/table.h"

#include <doctest/doctest.h>

#include <clocale>

namespace rota::client {

TEST_CASE("table: columns are as wide as their widest cell on a screen") {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  Table table({"A", "B"});
  table.add({"x", "1"});
  table.add({"作业", "2"});
  CHECK(table.text() == "A     B\nx     1\n作业  2\n");
}

TEST_CASE("table: stored text cannot control the terminal") {
  CHECK(printable("a\x1b[31mb\n") == "a\\x1b[31mb\\x0a");
  CHECK(printable("\xff\xfe") == "\\xff\\xfe");
  CHECK(printable("\xc2\x9b") == "\\xc2\\x9b");
  CHECK(printable("grün") == "grün");
}

TEST_CASE("table: a table without rows says so below its headers") {
  Table table({"A", "B"});
  CHECK(table.text() == "A  B\n(none)\n");
  table.add({"1", "2"});
  CHECK(table.text() == "A  B\n1  2\n");
}

TEST_CASE("table: a short row is filled up") {
  Table table({"A", "B"});
  table.add({"x"});
  CHECK(table.text() == "A  B\nx\n");
}

TEST_CASE("table: pages of a long list have one line of headers, and columns do not become narrower") {
  Table table({"A", "B"});
  table.add({"long cell", "1"});
  CHECK(table.next_page() == "A          B\nlong cell  1\n");
  table.add({"x", "2"});
  CHECK(table.next_page() == "x          2\n");
  Table none({"A"});
  CHECK(none.next_page() == "A\n(none)\n");
}

}  // namespace rota::client
