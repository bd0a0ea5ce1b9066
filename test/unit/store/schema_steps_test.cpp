#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "master/store/mysql/schema.h"

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

TEST_CASE("schema steps: numbered upwards, each one statement that may be repeated") {
  int number = 0;
  for (const SchemaStep& step : schema_steps()) {
    CAPTURE(step.name);
    CHECK(step.number > number);  // numbers that were never used are no steps
    number = step.number;
    const std::string sql = without_comments(step.sql);
    CHECK(sql.find(';') == std::string::npos);
    CHECK((sql.find("IF NOT EXISTS") != std::string::npos ||
           sql.find("ON DUPLICATE KEY") != std::string::npos ||
           sql.find("ADD COLUMN") != std::string::npos));
    CHECK(step.sql.starts_with("-- "));
  }
  CHECK(number >= 20);
}

TEST_CASE("schema steps: one that adds columns names the first of them, so that a repeat can be told") {
  using Added = std::pair<std::string, std::string>;
  CHECK(added_column("-- why\nALTER TABLE run ADD COLUMN a BIGINT NULL, ADD COLUMN b INT") == Added{"run", "a"});
  CHECK_FALSE(added_column("-- ALTER TABLE run ADD COLUMN a\nCREATE TABLE IF NOT EXISTS x (a INT)"));
  for (const SchemaStep& step : schema_steps()) {
    const bool alters = without_comments(step.sql).find("ALTER") != std::string::npos;
    CHECK(added_column(step.sql).has_value() == alters);
  }
}
