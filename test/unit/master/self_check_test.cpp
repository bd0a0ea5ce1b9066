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
