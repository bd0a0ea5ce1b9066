// What each elector promises to Master, over real servers.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "common/base/random.h"
#include "test/contract/elector/backends.h"

using namespace rota;
using namespace rota::master::cluster;
using namespace rota::master::cluster::testing;
using rota::testing::eventually;

namespace {

enum class Loss { Resigned, Stopped, Killed, CutOff };

/// How a leader goes. Afterwards it is gone, except when it is only cut off.
void lose(std::unique_ptr<Contender>& leader, Loss loss) {
  switch (loss) {
    case Loss::Resigned: return leader->elector->resign();
    case Loss::Stopped:
      leader->elector->stop();
      if (leader->session) leader->session->stop();
      return;
    case Loss::Killed:
      leader->line->set_cut(true);  // whatever it would still say is not heard
      return leader.reset();
    case Loss::CutOff: return leader->line->set_silent(true);
  }
}

/// One that is first, and one that waits behind it.
struct Pair {
  std::unique_ptr<Contender> one, two;
};

Pair one_and_next(const Backend& backend) {
  Pair pair;
  pair.one = backend.join("m1");
  REQUIRE(pair.one->wins());
  pair.two = backend.join("m2");
  REQUIRE(eventually([&] { return !pair.two->elector->candidacy().predecessor.empty(); }));
  return pair;
}

int firsts(const std::vector<std::unique_ptr<Contender>>& all) {
  int count = 0;
  for (const auto& each : all) count += each->elector->is_first() ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("elector contract: one wins, and the next follows at its loss") {
  Loss loss = Loss::Resigned;
  SUBCASE("it resigns") { loss = Loss::Resigned; }
  SUBCASE("it stops") { loss = Loss::Stopped; }
  SUBCASE("it is killed") { loss = Loss::Killed; }
  SUBCASE("it is cut off") { loss = Loss::CutOff; }
  for (const Backend& backend : fresh_electors()) {
    CAPTURE(backend.name);
    auto [one, two] = one_and_next(backend);
    CHECK_FALSE(two->elector->is_first());
    lose(one, loss);
    CHECK(two->wins());
  }
}

TEST_CASE("elector contract: a holder that is cut off stops calling itself first before another is") {
  for (const Backend& backend : fresh_electors()) {
    if (!backend.counts_by_itself) continue;
    CAPTURE(backend.name);
    auto one = backend.join("m1");
    REQUIRE(one->wins());
    auto two = backend.join("m2");
    one->line->set_silent(true);
    int both = 0;
    CHECK(eventually([&] {
      const bool is_two = two->elector->is_first();
      both += is_two && one->elector->is_first() ? 1 : 0;  // asked after: it was first all the time before
      return is_two;
    }));
    CHECK(both == 0);
  }
}

TEST_CASE("elector contract: a stale holder learns that it lost, and stands again behind the new one") {
  for (const Backend& backend : fresh_electors()) {
    CAPTURE(backend.name);
    auto one = backend.join("m1");
    REQUIRE(one->wins());
    auto two = backend.join("m2");
    one->line->set_silent(true);
    REQUIRE(two->wins());
    one->line->set_silent(false);
    CHECK(one->learns_loss());
    CHECK(eventually([&] { return !one->elector->candidacy().predecessor.empty(); }));
    CHECK(two->elector->is_first());
    two->elector->resign();
    CHECK(one->wins());  // rejoined
  }
}

TEST_CASE("elector contract: one that resigned stands again when it campaigns, at the end of the row") {
  for (const Backend& backend : fresh_electors()) {
    CAPTURE(backend.name);
    auto [one, two] = one_and_next(backend);
    one->elector->resign();
    one->elector->campaign();
    CHECK(two->wins());
    CHECK(one->learns_loss());
    lose(two, Loss::Stopped);
    CHECK(one->wins());
  }
}

TEST_CASE("elector contract: lost answers leave no ghost") {
  for (const Backend& backend : fresh_electors()) {
    CAPTURE(backend.name);
    std::vector<std::unique_ptr<Contender>> all;
    for (const char* id : {"m1", "m2", "m3"}) all.push_back(backend.join(id));
    for (int i = 0; i < 60; ++i) {
      Contender& one = *all[random_u64() % all.size()];
      one.line->set_cut(random_u64() % 2 == 0);
      if (random_u64() % 4 == 0) one.elector->resign();
      one.elector->campaign();
      CHECK(eventually([] { return random_u64() % 8 == 0; }));  // a few ms
    }
    for (auto& one : all) one->line->set_cut(false);
    while (!all.empty()) {
      CHECK(eventually([&] { return firsts(all) == 1; }));
      const auto first = std::find_if(all.begin(), all.end(), [](auto& each) { return each->elector->is_first(); });
      if (first == all.end()) continue;  // it was in change
      lose(*first, Loss::Stopped);
      all.erase(first);
    }
  }
}

TEST_CASE("elector contract: everybody learns who leads, until it says so no more") {
  const LeaderHint hint{Epoch{3}, "127.0.0.1", 4711};
  for (const Backend& backend : fresh_electors()) {
    CAPTURE(backend.name);
    auto one = backend.join("m1");
    REQUIRE(one->wins());
    auto two = backend.join("m2");
    CHECK(eventually([&] { return !two->elector->leader(); }));
    one->elector->publish(hint);
    CHECK(eventually([&] { return two->elector->leader() == hint && one->elector->leader() == hint; }));
    one->elector->withdraw_hint();
    CHECK(eventually([&] {
      const auto found = two->elector->leader();
      return !found && found.error().code == ErrorCode::NotFound;
    }));
  }
}

TEST_CASE("elector contract: without its servers a candidate says why it cannot stand") {
  for (const Backend& backend : fresh_electors()) {
    if (!backend.counts_by_itself) continue;  // ZooKeeper's session says it
    CAPTURE(backend.name);
    auto one = backend.join("m1");
    REQUIRE(one->wins());
    one->line->set_cut(true);
    CHECK(one->learns_loss());
    CHECK(eventually([&] { return !one->elector->candidacy().trouble.empty(); }));
    one->line->set_cut(false);
    CHECK(one->wins());
    CHECK(eventually([&] { return one->elector->candidacy().trouble.empty(); }));
  }
}
