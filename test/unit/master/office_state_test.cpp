#include "master/office/office_state.h"

#include <doctest/doctest.h>

#include "master/office/office_watch.h"
#include "master/office/takeover_pacing.h"

using namespace rota;
using namespace rota::master;
using namespace std::chrono_literals;

namespace {

struct World {
  FakeClock clock;
  OfficeState state{clock};
  Leads leads = Leads::Nobody;
  bool has_session = true;
  std::string database;
  cluster::Candidacy candidacy{true, "", ""};

  void look() {
    OfficeWatchParts parts;
    parts.leads = [this] { return leads; };
    parts.has_session = [this] { return has_session; };
    parts.database = [this] { return database; };
    parts.candidacy = [this] { return candidacy; };
    parts.describe = [](const std::string& name) { return name + " of m1"; };
    look_at_office(parts, state);
  }
  bool says(const std::string& text) const {
    CAPTURE(state.word());
    return state.word().find(text) != std::string::npos;
  }
};

}  // namespace

TEST_CASE("office: a cluster that nobody leads is told at once to who asks, and as degraded after 10 s") {
  World world;
  world.database = "database: no such column";
  world.look();
  world.clock.advance(9s);
  CHECK(world.state.word() == "ok");
  CHECK(world.state.why_nobody_leads() ==
        "no master leads for 9s: this master does not stand for election: database: no such column (for 9s)");
  world.clock.advance(1s);
  CHECK(world.state.word() == "no master leads for 10s or more: this master does not stand for election: "
                              "database: no such column (for 10s or more)");
  const std::string word = world.state.word();
  world.clock.advance(9s);
  CHECK(world.state.word() == word);  // does not change with every look
  world.leads = Leads::Another;
  world.database.clear();
  world.look();
  CHECK(world.state.word() == "ok");
  CHECK(world.state.why_nobody_leads().empty());
}

TEST_CASE("office: a Term that the silent database ended is not told beside its silence") {
  World world;
  world.database = "the database does not answer since noon";
  world.state.report_passing(Hurdle::Takeover, "its last Term ended: database: refused");
  world.look();
  world.clock.advance(3s);
  CHECK(world.state.why_nobody_leads() == "no master leads for 3s: this master does not stand for election: "
                                          "the database does not answer since noon (for 3s)");
  world.state.report_passing(Hurdle::Takeover, "ZooKeeper did not answer");
  CHECK(world.state.why_nobody_leads().find("ZooKeeper did not answer") != std::string::npos);
}

TEST_CASE("office: a trouble's age counts from its first report, whatever its words") {
  World world;
  world.state.report(Hurdle::Takeover, "epoch 7 refused");
  world.clock.advance(15s);
  world.state.report(Hurdle::Takeover, "epoch 8 refused", "grant it");
  CHECK(world.state.view().troubles.at(Hurdle::Takeover).since == world.clock.mono() - 15s);
  CHECK(world.says("could not take office: epoch 8 refused (for 10s or more); grant it"));
  world.state.clear(Hurdle::Takeover);
  CHECK_FALSE(world.says("epoch 8"));
}

TEST_CASE("office: who is behind another candidate says so only while nobody leads") {
  World world;
  world.candidacy.predecessor = "n_1";
  world.look();
  world.clock.advance(10s);
  CHECK(world.says("this master stands behind n_1 of m1, which has not taken office"));
  world.leads = Leads::Another;
  world.look();
  CHECK(world.state.view().troubles.empty());
  CHECK(world.state.word() == "ok");
}

TEST_CASE("office: what would keep a follower from taking over is told while another leads") {
  World world;
  world.leads = Leads::Another;
  world.database = "read only";
  world.look();
  CHECK(world.state.word() == "ok");
  world.clock.advance(10s);
  CHECK(world.state.word() == "another master leads, but this master does not stand for election: read only "
                              "(for 10s or more)");
  SUBCASE("a failure that may have been the servers' is over when another leads") {
    world.database.clear();
    world.state.report_passing(Hurdle::Takeover, "no answer");
    world.look();
    world.clock.advance(10s);
    CHECK(world.state.word() == "ok");
  }
  SUBCASE("one that was its own is not") {
    world.database.clear();
    world.state.report(Hurdle::Takeover, "no such zone");
    world.look();
    world.clock.advance(10s);
    CHECK(world.says("could not take office: no such zone"));
  }
}

TEST_CASE("office: a master that leads says nothing against itself") {
  World world;
  world.leads = Leads::This;
  world.database = "slow";
  world.look();
  world.clock.advance(60s);
  CHECK(world.state.word() == "ok");
  CHECK(world.state.view().troubles.empty());
}

TEST_CASE("office: without ZooKeeper a leader may be there, unknown here") {
  World world;
  world.has_session = false;
  world.candidacy.predecessor = "n_1";
  world.look();
  world.clock.advance(12s);
  CHECK(world.state.why_nobody_leads().starts_with("no leader is known here for 12s: this master has no "
                                                   "connection with ZooKeeper"));
  CHECK_FALSE(world.says("n_1"));
}

TEST_CASE("office: an election that refuses a master is told") {
  World world;
  world.candidacy = {false, "", "no permission for /rota/c/election"};
  world.look();
  world.clock.advance(10s);
  CHECK(world.says("cannot stand for election: no permission for /rota/c/election"));
}

TEST_CASE("office: a takeover that takes long is told while it is under way") {
  World world;
  world.state.begin_takeover();
  world.clock.advance(2s);
  CHECK(world.state.view().troubles.empty());
  world.clock.advance(10s);
  CHECK(world.says("it is elected, and still reads and writes"));
  world.state.end_takeover();
  CHECK(world.state.view().troubles.empty());
}

TEST_CASE("takeover pacing: who can't lead lets others go first, for longer each time") {
  TakeoverPacing pacing;
  const MonoTime now{100s};
  for (const Millis away : {200ms, 400ms, 800ms, 1600ms, 3200ms, 5000ms, 5000ms}) {
    const auto next = pacing.after_failure(ErrorCode::Denied, now);
    CHECK(next.steps_back);
    CHECK(next.pause == away);
  }
  pacing.after_success();
  CHECK(pacing.after_failure(ErrorCode::Internal, now).pause == 200ms);
}

TEST_CASE("takeover pacing: no answer is tried again at once, but not for more than 5 s") {
  TakeoverPacing pacing;
  MonoTime now{100s};
  CHECK_FALSE(pacing.after_failure(ErrorCode::Unavailable, now).steps_back);
  now += 4999ms;
  CHECK_FALSE(pacing.after_failure(ErrorCode::TimedOut, now).steps_back);
  now += 1ms;
  CHECK(pacing.after_failure(ErrorCode::UnknownOutcome, now).steps_back);
  CHECK_FALSE(pacing.after_failure(ErrorCode::Unavailable, now).steps_back);
}

TEST_CASE("takeover pacing: who lost a race joins the row again at once") {
  TakeoverPacing pacing;
  const auto next = pacing.after_failure(ErrorCode::Conflict, MonoTime{});
  CHECK(next.steps_back);
  CHECK(next.pause == 0ms);
}
