// Holds of workers: a row for each, whose trial and end come later, and what a new Term gets of them.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

model::WorkerHold a_hold(std::int64_t number, const std::string& worker) {
  model::WorkerHold hold;
  hold.number = number;
  hold.worker = worker;
  hold.pool = "default";
  hold.kind = number % 2 == 0 ? model::WorkerHold::Kind::Flapping : model::WorkerHold::Kind::Excluded;
  hold.strikes = 2;
  hold.since = wall_from_ms(kBase + number);
  hold.until = hold.since + Millis{60'000};
  hold.why = nasty_text();
  return hold;
}

void apply_holds(const Backend& on, std::vector<model::WorkerHold> rows) {
  core::Changes changes;
  changes.holds = std::move(rows);
  const auto result = on.store->apply(Epoch{1}, changes);
  REQUIRE_MESSAGE(result.outcome == ApplyOutcome::Applied, result.detail);
}

std::vector<model::WorkerHold> held_for_a_new_term(const Backend& on) {
  auto recovered = on.office->recover();
  REQUIRE_MESSAGE(recovered.has_value(), (recovered ? "" : recovered.error().message));
  return recovered->holds;
}

}  // namespace

TEST_CASE("holds: a row comes back as it went in, then with its trial and its end") {
  ON_EACH_STORE(on, led_backends()) {
    model::WorkerHold hold = a_hold(11, "w1");
    for (int i = 0; i < 2; ++i) apply_holds(on, {hold, a_hold(12, "w2")});
    CHECK(on.reader->holds_of("w1", 10) == std::vector<model::WorkerHold>{hold});
    hold.trial = wall_from_ms(kBase + 70'000);
    apply_holds(on, {hold});
    CHECK(on.reader->holds_of("", 10) == std::vector<model::WorkerHold>{a_hold(12, "w2"), hold});
    CHECK(held_for_a_new_term(on) == std::vector<model::WorkerHold>{hold, a_hold(12, "w2")});
    hold.ended = wall_from_ms(kBase + 80'000);
    apply_holds(on, {hold});
    CHECK(on.reader->holds_of("w1", 1) == std::vector<model::WorkerHold>{hold});
    CHECK(held_for_a_new_term(on) == std::vector<model::WorkerHold>{a_hold(12, "w2")});
  }
}
