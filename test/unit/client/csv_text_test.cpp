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

TEST_CASE("csv: more rows than stay in memory have the columns of all") {
  constexpr int kRows = 3000;
  CsvRows rows;
  for (int i = 0; i < kRows; ++i) {
    json row = {{"id", std::to_string(i)}, {"text", "a \"b\"\n\xC3\xBC,\xFF"}};
    if (i == kRows - 1) row["last"] = true;
    rows.add(row);
  }
  std::string out;
  REQUIRE(rows.write([&out](std::string_view text) { out += text; }));
  const std::string cell = "\"a \"\"b\"\"\n\xC3\xBC,\xEF\xBF\xBD\"";
  CHECK(out.starts_with("id,last,text\n0,," + cell + "\n1,," + cell + "\n"));
  CHECK(out.ends_with("2998,," + cell + "\n2999,true," + cell + "\n"));
}

TEST_CASE("csv: the items of a list can stand one by one") {
  const FlatRow row = flat_row({{"a", {1, 2}}, {"b", {{"c", "x"}}}}, ListCells::OneByOne);
  CHECK(row == FlatRow{{"a[]", "1"}, {"a[]", "2"}, {"b.c", "x"}});
}

}  // namespace rota::client
