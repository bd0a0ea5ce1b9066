#include "client/command/csv_text.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace rota::client {

using nlohmann::json;

TEST_CASE("csv: a row for each object, a column for each key, quoted where it must be") {
  const json rows = {{{"id", "1"}, {"name", "a, \"b\"\nc"}, {"ended", nullptr}},
                     {{"id", "2"}, {"name", "gr\xC3\xBCn"}, {"ended", 5}}};
  CHECK(csv_text(rows) == "ended,id,name\n,1,\"a, \"\"b\"\"\nc\"\n5,2,gr\xC3\xBCn\n");
}

TEST_CASE("csv: what is nested has columns of its own, a list stands as JSON") {
  CHECK(csv_text({{"a", {{"b", 1}, {"c", true}}}, {"d", {1, 2}}}) == "a.b,a.c,d\n1,true,\"[1,2]\"\n");
}

TEST_CASE("csv: nothing is nothing, and what some rows lack is empty there") {
  CHECK(csv_text(json::array()) == "");
  CHECK(csv_text({{{"a", 1}}, {{"b", "\xFF"}}}) == "a,b\n1,\n,\xEF\xBF\xBD\n");
}

}  // namespace rota::client
