#include "client/verify_sum.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace rota::client;

TEST_CASE("verify sum: parts add up, one broken part breaks all, the last says whether it is complete") {
  thrift::Check ticks;
  ticks.promise = "P1";
  ticks.ok = true;
  ticks.planned = 10;
  ticks.fired = 9;
  thrift::VerifyReport part;
  part.ok = true;
  part.decided_through_ms = 5;
  part.max_lateness_ms = 7;
  part.checks = {ticks};
  part.__set_complete(false);
  part.__set_next_place("jobs:4");
  part.__set_jobs_looked_at(4);
  part.__set_jobs_in_all(9);
  thrift::VerifyReport sum;
  add_part(sum, part);
  CHECK(sum.ok);
  CHECK_FALSE(sum.complete);
  CHECK(how_far(sum) == "ticks of 4 of 9 jobs, 0 runs");
  part.ok = part.checks[0].ok = false;
  part.checks[0].examples = {"a", "b", "c", "d"};
  part.max_lateness_ms = 3;
  add_part(sum, part);
  add_part(sum, part);
  part.ok = part.checks[0].ok = true;
  part.__set_complete(true);
  part.__set_next_place("");
  part.__set_runs_looked_at(100);
  add_part(sum, part);
  CHECK_FALSE(sum.ok);
  CHECK(sum.complete);
  CHECK(sum.checks.size() == 1);
  CHECK_FALSE(sum.checks[0].ok);
  CHECK(sum.checks[0].planned == 40);
  CHECK(sum.checks[0].examples.size() == 5);
  CHECK(sum.max_lateness_ms == 7);
  CHECK(sum.jobs_looked_at == 16);
  CHECK(sum.runs_looked_at == 100);
}

TEST_CASE("verify sum: an older master answers completely or not at all") {
  thrift::VerifyReport part, sum;
  part.ok = true;
  part.checks.emplace_back();
  add_part(sum, part);
  CHECK(sum.complete);
}
