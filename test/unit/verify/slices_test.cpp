#include <doctest/doctest.h>

#include "history.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::verify;
using namespace rota::master::verify::test;

TEST_CASE("verify: a slice of ticks that is under way is judged by how far it is") {
  History history = a_true_history();
  const WallTime through = at(10), reaching = at(20) + Millis{500};
  SUBCASE("past this job: all is there") {
    history.rows.watermark = core::Watermark(through, reaching, JobId{1});
    CHECK(red(look(history)).empty());
  }
  SUBCASE("past this job: a tick of the slice is missing") {
    history.rows.watermark = core::Watermark(through, at(21), JobId{1});
    CHECK(red(look(history)) == "P1");
  }
  SUBCASE("not at this job yet: its ticks of the slice may not be there") {
    history.rows.watermark = core::Watermark(through, reaching, JobId{});
    CHECK(red(look(history)) == "P1");
  }
  SUBCASE("not at this job yet, which is ahead of it") {
    history.rows.watermark = core::Watermark(through, reaching, JobId{});
    history.rows.jobs[0].ticks_through = reaching;
    CHECK(red(look(history)).empty());
  }
  SUBCASE("not at this job yet, which is ahead by less than what is there") {
    history.rows.watermark = core::Watermark(through, reaching, JobId{});
    history.rows.jobs[0].ticks_through = at(19);
    CHECK(red(look(history)) == "P1");
  }
  SUBCASE("not at this job yet, which was deleted meanwhile") {
    history.rows.watermark = core::Watermark(through, reaching, JobId{});
    history.rows.versions[0].valid_to = reaching;
    CHECK(red(look(history)).empty());
  }
  SUBCASE("beyond the clock") {
    history.rows.watermark = core::Watermark(through, at(103), JobId{});
    history.rows.jobs[0].ticks_through = reaching;
    CHECK(red(look(history)) == "P1");
  }
}
