#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "master/store/schema.h"

using namespace rota::master::store;

namespace {

std::string without_comments(std::string_view sql) {
  std::istringstream lines{std::string(sql)};
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("--")) out += line + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("schema steps: numbered from 1 without a hole, each one statement that may be repeated") {
  int number = 0;
  for (const SchemaStep& step : schema_steps()) {
    CAPTURE(step.name);
    CHECK(step.number == ++number);
    const std::string sql = without_comments(step.sql);
    CHECK(sql.find(';') == std::string::npos);
    CHECK((sql.find("IF NOT EXISTS") != std::string::npos ||
           sql.find("ON DUPLICATE KEY") != std::string::npos));
    CHECK(step.sql.starts_with("-- "));
  }
  CHECK(number >= 14);
}
