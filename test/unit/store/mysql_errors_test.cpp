#include "master/store/mysql/mysql_errors.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace rota::master::store;

TEST_CASE("mysql errors: a missing privilege is reported with the GRANT for the refused account") {
  const std::string message = "UPDATE command denied to user 'rota'@'10.0.0.7' for table `rota`.`epoch`";
  CHECK(remedy_for_sql_error(1142, message, "rota") ==
        "the account lacks a privilege; as an administrator: GRANT ALL ON `rota`.* TO 'rota'@'10.0.0.7'");
  for (const char* odd : {"", "denied", "'@'", "x'@'", "'@'y'", "to user 'a'@'b"}) {
    CAPTURE(odd);
    CHECK(remedy_for_sql_error(1142, odd, "rota").ends_with("GRANT ALL ON `rota`.* TO the account"));
  }
}

TEST_CASE("mysql errors: each error that an operator can fix has a remedy, others have none") {
  for (const int number : {1045, 1698, 1044, 1142, 1143, 1227, 1049, 1054, 1146, 1290, 1792, 1836, 1021, 1114, 1040,
                           1203, 1226, 2002, 2003, 2005, 1047, 1205, 1213}) {
    CAPTURE(number);
    CHECK_FALSE(remedy_for_sql_error(number, "", "rota").empty());
  }
  for (const int number : {0, 1062, 1264, 2013}) {
    CAPTURE(number);
    CHECK(remedy_for_sql_error(number, "", "rota").empty());
  }
}
