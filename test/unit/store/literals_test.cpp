#include "master/store/mysql/literals.h"

#include <doctest/doctest.h>

#include <limits>

using namespace rota::master::store;

namespace {

std::string literal(std::string_view value) {
  std::string sql;
  LiteralBinder(sql).text(value);
  return sql;
}

}  // namespace

TEST_CASE("literals: printable ASCII stands in quotes") {
  CHECK(literal("") == "''");
  CHECK(literal("worker-1") == "'worker-1'");
  CHECK(literal(R"({"a": [1, "?;--/*"]} ~)") == R"('{"a": [1, "?;--/*"]} ~')");
}

TEST_CASE("literals: whatever could end a literal or escape in it is hexadecimal") {
  CHECK(literal("'") == "x'27'");
  CHECK(literal("\\") == "x'5c'");
  CHECK(literal("a\nb") == "x'610a62'");
  CHECK(literal("\xF0\x9F\x98\x80") == "x'f09f9880'");
  CHECK(literal("\xBF'") == "x'bf27'");
  CHECK(literal(std::string("\0", 1)) == "x'00'");
  for (int byte = 0; byte < 256; ++byte) {
    const std::string one(1, static_cast<char>(byte));
    const bool is_safe = byte >= 32 && byte < 127 && byte != '\'' && byte != '\\';
    CHECK(literal(one).starts_with("x'") != is_safe);
  }
}

TEST_CASE("literals: values are parted by commas, in their order") {
  std::string sql = "(";
  LiteralBinder(sql).integer(-1).null().text("a").time(std::nullopt).text_or_null("").prose("b\xFF", 10);
  CHECK(sql == "(-1,NULL,'a',NULL,NULL,x'62efbfbd'");
  sql.clear();
  LiteralBinder(sql).integer(std::numeric_limits<std::int64_t>::min());
  CHECK(sql == "-9223372036854775808");
}

TEST_CASE("literals: each question mark of a statement gets the next value, and none in a value") {
  CHECK(with_literals("SET a = ?, b = ? WHERE c = ?", [](Binder& binder) {
          binder.text("?").integer(2).null();
        }) == "SET a = '?', b = 2 WHERE c = NULL");
  CHECK(with_literals("SET a = ? ", [](Binder& binder) { binder.integer(1); }) == "SET a = 1 ");
}
