#include "client/command/csv_text.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace rota::client {

using nlohmann::json;

TEST_CASE("csv: a row for each object, a column for each key, quoted when necessary") {
  const json rows = {{{"id", "1"}, {"name", "a, \"b\"\nc"}, {"ended", nullptr}},
                     {{"id", "2"}, {"name", "gr\xC3\xBCn"}, {"ended", 5}}};
  CHECK(csv_text(rows) == "ended,id,name\n,1,\"a, \"\"b\"\"\nc\"\n5,2,gr\xC3\xBCn\n");
}

TEST_CASE("csv: nested values have columns of their own, a list is written as JSON") {
  CHECK(csv_text({{"a", {{"b", 1}, {"c", true}}}, {"d", {1, 2}}}) == "a.b,a.c,d\n1,true,\"[1,2]\"\n");
}

TEST_CASE("csv: null is an empty cell, and so is a missing key") {
  CHECK(csv_text(json::array()) == "");
  CHECK(csv_text({{{"a", 1}}, {{"b", "\xFF"}}}) == "a,b\n1,\n,\xEF\xBF\xBD\n");
}

}  // namespace rota::client
