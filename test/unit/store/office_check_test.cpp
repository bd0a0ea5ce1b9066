#include "master/store/mysql/office_check.h"

#include <doctest/doctest.h>

using namespace rota::master::store;

TEST_CASE("office check: reads tables and columns out of the steps, and no key for a column") {
  const std::vector<SchemaStep> steps = {
      {1, "a", "-- why, and how\nCREATE TABLE IF NOT EXISTS a (\n  x DECIMAL(3,1) NOT NULL,  -- tenths\n"
               "  keyed VARCHAR(64) NOT NULL DEFAULT '',\n  PRIMARY KEY (x, keyed),\n  UNIQUE KEY once (keyed),\n"
               "  KEY k (x)\n) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin"},
      {2, "first", "-- a row\nINSERT INTO a (x) VALUES (1) ON DUPLICATE KEY UPDATE x = x"},
      {3, "more", "-- more\nALTER TABLE a ADD COLUMN y INT NULL, ADD COLUMN z ENUM('p','q') NULL,\n  ADD KEY l (y)"},
  };
  const auto tables = needed_tables(steps);
  REQUIRE(tables.size() == 1);
  CHECK(tables[0].name == "a");
  CHECK(tables[0].made_by == 1);
  CHECK(tables[0].columns == std::vector<NeededColumn>{{"x", "DECIMAL(3,1) NOT NULL"},
                                                       {"keyed", "VARCHAR(64) NOT NULL DEFAULT ''"},
                                                       {"y", "INT NULL"},
                                                       {"z", "ENUM('p','q') NULL"}});
}

TEST_CASE("office check: every table of this version has columns") {
  const auto tables = needed_tables(schema_steps());
  CHECK(tables.size() >= 16);
  for (const NeededTable& table : tables) {
    CAPTURE(table.name);
    CHECK_FALSE(table.columns.empty());
    for (const NeededColumn& column : table.columns) CHECK_FALSE(column.definition.empty());
  }
}
