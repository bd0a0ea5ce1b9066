#include "client/command/row_filter.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace rota::client {
namespace {

using nlohmann::json;

bool accepts(const std::vector<std::string>& texts, const json& row) {
  std::vector<RowCondition> conditions;
  for (const std::string& text : texts) conditions.push_back(row_condition_from(text).value());
  return RowFilter(conditions).accepts(row);
}

const json kRow = {{"id", "17"},
                   {"state", "failed"},
                   {"attempt", 3},
                   {"late", false},
                   {"ended_at_ms", nullptr},
                   {"kernel_limits", {"memory", "cpus"}},
                   {"definition", {{"labels", {{"team", "fin"}, {"a.b/c", "x=y"}}}, {"rules", {{"pool", "big"}}}}}};

}  // namespace

TEST_CASE("row_condition_from: reads equal and not equal, and refuses what is neither") {
  CHECK(row_condition_from("state=failed").value() == RowCondition{"state", "failed", true});
  CHECK(row_condition_from("state!=failed").value() == RowCondition{"state", "failed", false});
  CHECK(row_condition_from("a.b=x=y").value() == RowCondition{"a.b", "x=y", true});
  CHECK(row_condition_from("state=").value() == RowCondition{"state", "", true});
  for (const char* text : {"", "state", "=failed", "!=failed"}) {
    CAPTURE(text);
    REQUIRE(!row_condition_from(text));
    CHECK(row_condition_from(text).error().message.find("KEY=VALUE") != std::string::npos);
  }
}

TEST_CASE("matches_pattern: a star stands for any text") {
  for (const char* pattern : {"nightly-dump", "nightly*", "*dump", "n*-*p", "*", "**", "nightly-dump*"}) {
    CHECK_MESSAGE(matches_pattern(pattern, "nightly-dump"), pattern);
  }
  for (const char* pattern : {"", "nightly", "dump*", "n*x", "*nightly"}) {
    CHECK_MESSAGE(!matches_pattern(pattern, "nightly-dump"), pattern);
  }
  CHECK(matches_pattern("", ""));
  CHECK(matches_pattern("a*b*b", "abxb"));
}

TEST_CASE("row filter: goes by the values of -o json, also nested ones by the end of their keys") {
  CHECK(accepts({}, kRow));
  CHECK(accepts({"state=failed"}, kRow));
  CHECK(!accepts({"state=fail"}, kRow));
  CHECK(accepts({"attempt=3", "late=false", "ended_at_ms="}, kRow));
  CHECK(accepts({"definition.rules.pool=big"}, kRow));
  CHECK(accepts({"pool=big"}, kRow));
  CHECK(accepts({"labels.team=f*", "a.b/c=x=y"}, kRow));
  CHECK(!accepts({"pool=big", "state=lost"}, kRow));
}

TEST_CASE("row filter: values of one key are alternatives, and != excludes") {
  CHECK(accepts({"state=lost", "state=failed"}, kRow));
  CHECK(accepts({"state!=lost", "state!=killed"}, kRow));
  CHECK(!accepts({"state!=lost", "state!=failed"}, kRow));
  CHECK(accepts({"kernel_limits=cpus"}, kRow));
  CHECK(!accepts({"kernel_limits!=cpus"}, kRow));
}

TEST_CASE("row filter: a whole key is meant before the ends of others") {
  const json row = {{"id", "1"}, {"last_run", {{"id", "2"}}}};
  CHECK(accepts({"id=1"}, row));
  CHECK(!accepts({"id=2"}, row));
  CHECK(accepts({"last_run.id=2"}, row));
}

TEST_CASE("row filter: a key that no row has is told, with the known ones") {
  RowFilter filter({RowCondition{"stat", "x", true}});
  CHECK(filter.complaint());  // no row: nobody knows the keys
  CHECK(!filter.accepts(kRow));
  const auto told = filter.complaint();
  REQUIRE(!told);
  CHECK(told.error().message.find("did you mean state?") != std::string::npos);
  CHECK(told.error().message.find("definition.rules.pool") != std::string::npos);
  RowFilter fine({RowCondition{"state", "x", true}});
  CHECK(!fine.accepts(kRow));
  CHECK(fine.complaint());
}

}  // namespace rota::client
