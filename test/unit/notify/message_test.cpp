// What a receiver gets, whom a job's names mean, and when a master tells that nobody leads.
#include <doctest/doctest.h>

#include "common/base/utf8.h"
#include "common/config/receivers.h"
#include "master/notify/message.h"
#include "master/notify/no_leader_rules.h"

using namespace rota;
using namespace rota::master::notify;
using model::Happening;
using std::chrono_literals::operator""s;

TEST_CASE("notify: the message is one JSON object of valid UTF-8, whatever a job says") {
  model::Notification row;
  row.id = 7'696'581'394'433;
  row.receiver = "ops";
  row.what = Happening::Failed;
  row.job = JobId{5};
  row.space = "default";
  row.job_name = "load";
  row.run = RunId{7};
  row.text = "broken \xff and \"quoted\"";
  row.made = wall_from_ms(1000);
  row.attempts = 2;
  const std::string text = message_of(row, {"rota", "m1"});
  CHECK(is_utf8(text));
  CHECK(
      text ==
      "{\"id\":\"7696581394433\",\"event\":\"failed\",\"text\":\"broken \xEF\xBF\xBD and \\\"quoted\\\"\","
      "\"cluster\":\"rota\",\"master\":\"m1\",\"receiver\":\"ops\",\"namespace\":\"default\",\"job\":"
      "\"load\","
      "\"run\":7,\"count\":1,\"made_at_ms\":1000,\"attempt\":3}");
}

TEST_CASE("notify: nobody leads is told once for each stretch, after the time that is set") {
  NoLeaderRules rules(Millis{30'000});
  const MonoTime begin{100s};
  CHECK(!rules.look(begin, false));
  CHECK(!rules.look(begin + 29s, false));
  CHECK(rules.look(begin + 31s, false) == Millis{31'000});
  CHECK(!rules.look(begin + 60s, false));
  CHECK(!rules.look(begin + 61s, true));
  CHECK(!rules.look(begin + 62s, false));
  CHECK(rules.look(begin + 92s, false) == Millis{30'000});
}

TEST_CASE("notify: settings name the same events as rows do") {
  REQUIRE(config::kEventNames.size() == model::kWantedHappenings);
  for (std::size_t i = 0; i < model::kWantedHappenings; ++i) {
    CHECK(config::kEventNames[i] == model::kHappenings[i]);
  }
}
