#include "master/upkeep/self_check.h"

#include <doctest/doctest.h>

using namespace rota;
using namespace rota::master;

TEST_CASE("self check: a word of this moment takes the place of the one found last") {
  const HealthWords last = {{"office", "ok"}, {"host", "ok"}};
  const HealthWords now = with_words(last, {{"office", "no master leads"}, {"logs", "ok"}});
  CHECK(now == HealthWords{{"office", "no master leads"}, {"host", "ok"}, {"logs", "ok"}});
  CHECK(verdict_of(now, Millis{60'000}) == "degraded: office: no master leads");
}

TEST_CASE("self check: a broken invariant of the scheduler makes the master degraded, and asks for a report") {
  core::Snapshot snapshot;
  CHECK(invariants_word(nullptr) == "ok");
  CHECK(invariants_word(&snapshot) == "ok");
  snapshot.tallies.invariant_violations = 2;
  snapshot.tallies.first_violation = "a due tick is not indexed (job default/a)";
  const std::string verdict = verdict_of({{"invariants", invariants_word(&snapshot)}}, Millis{60'000});
  CHECK(verdict == "degraded: invariants: 2 broken, first: a due tick is not indexed (job default/a); "
                   "please report it with the leader's log");
}
