#include <doctest/doctest.h>
#include <signal.h>

#include <thread>

#include "test/integration/worker/worker_rig.h"

namespace rota::testing {

namespace {
std::vector<std::string> by_shell(const std::string& text) { return {"/bin/sh", "-c", text}; }
WorkerSettings brief() { return {.id = "w1", .binary = ROTA_WORKER, .extra_yaml = {}, .vouching = kBrief}; }
}  // namespace

TEST_CASE("worker: a killed proper loses neither runs, nor results, nor output") {
  FakeMaster master;
  WorkerUnderTest worker;
  worker.start();
  const auto first = worker.join(master);
  REQUIRE_MESSAGE(!first.incarnation.empty(), worker.log_text());
  const std::string marks = worker.folder() + "/";

  // One that prints on, one whose end falls into the gap, one whose outcome the leader did not store.
  const auto counting = WorkerUnderTest::command(
      100, by_shell("i=0; while [ ! -e " + marks + "go ]; do echo $i; i=$((i+1)); sleep 0.01; done; echo last"));
  REQUIRE(worker.dispatch(counting) == "none");
  REQUIRE(master.wait_log(100, 1, "5\n"));
  REQUIRE(worker.dispatch(WorkerUnderTest::command(101, by_shell("echo short; exit 9"))) == "none");
  REQUIRE(master.outcome(101).exit_status == 9);
  master.set_deaf(true);
  REQUIRE(worker.dispatch(WorkerUnderTest::command(102, by_shell("echo held back; exit 4"))) == "none");
  // Its outcome is in the outbox once the inventory calls it finished.
  REQUIRE(worker.wait_finished(102));

  const pid_t before = worker.proper();
  ::kill(before, SIGKILL);
  const MonoTime killed = BootClock::now();
  const auto second = worker.join(master, 1, first.incarnation);
  REQUIRE_MESSAGE(!second.incarnation.empty(), worker.log_text());
  MESSAGE("bench=proper_restart ms_to_hello=" << floor_ms(BootClock::now() - killed).count());
  const auto inventory = worker.hello(master, 1);
  REQUIRE(inventory);
  std::string running, finished;
  for (const auto& held : inventory->attempts) {
    if (held.state == "running") running += std::to_string(held.attempt.run) + " ";
    if (held.state == "finished") finished += std::to_string(held.attempt.run) + " ";
  }
  CHECK(running == "100 ");
  // It may tell again of 101 too: it was killed before it had noted that the master stored it.
  CHECK_MESSAGE((finished == "102 " || finished == "101 102 "), finished);
  CHECK(worker.nodes().size() == 1);

  master.set_deaf(false);
  CHECK(master.outcome(102).exit_status == 4);
  CHECK(master.reported_life(102) == first.incarnation);
  CHECK(master.log(102, 1, 10) == "held back\n");
  REQUIRE(::system(("touch " + marks + "go").c_str()) == 0);
  const auto outcome = master.outcome(100);
  CHECK(outcome.state == "succeeded");
  CHECK(master.reported_life(100) == first.incarnation);
  const std::string log = master.log(100, 1, outcome.stdout_bytes);
  REQUIRE(static_cast<std::int64_t>(log.size()) == outcome.stdout_bytes);
  std::string expected;
  for (int i = 0; expected.size() + 5 < log.size(); ++i) expected += std::to_string(i) + "\n";
  CHECK(log == expected + "last\n");
  CHECK(master.bad_chunks() == 0);
}

// Four: beyond that the warden waits longer before each start than vouchers last here.
TEST_CASE("worker: its proper killed four times in a row under load, every outcome comes home") {
  FakeMaster master;
  WorkerUnderTest worker;
  worker.start();
  auto life = worker.join(master);
  REQUIRE_MESSAGE(!life.incarnation.empty(), worker.log_text());
  std::vector<std::int64_t> accepted;
  std::int64_t run = 500;
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < 8; ++i) {
      const auto item = WorkerUnderTest::command(
          run, by_shell("head -c 200000 /dev/zero | tr '\\0' 'x'; exit " + std::to_string(run % 7)));
      if (worker.dispatch(item) == "none") accepted.push_back(run);
      ++run;
    }
    ::kill(worker.proper(), SIGKILL);
    life = worker.join(master, 1, life.incarnation);
    REQUIRE(!life.incarnation.empty());
  }
  CHECK(accepted.size() >= 10);
  int lost = 0;
  for (const std::int64_t one : accepted) {
    const auto outcome = master.outcome(one);
    if (outcome.state.empty()) {
      ++lost;
      continue;
    }
    CHECK_MESSAGE(outcome.exit_status == one % 7, outcome.state << " " << outcome.message);
    const std::string log = master.log(one, 1, 200'000);
    CHECK(log.size() == 200'000);
    CHECK((log == std::string(200'000, 'x')));
  }
  CHECK(lost == 0);
  CHECK(master.bad_chunks() == 0);
}

TEST_CASE("worker: TERM drains; running attempts end, the node vanishes, exit 0") {
  FakeMaster master;
  WorkerUnderTest worker;
  worker.start();
  REQUIRE(!worker.join(master).incarnation.empty());
  const std::string go = worker.folder() + "/go";
  REQUIRE(worker.dispatch(WorkerUnderTest::command(
              200, by_shell("echo up; while [ ! -e " + go + " ]; do sleep 0.01; done; echo out"))) == "none");
  REQUIRE(master.wait_log(200, 1, "up"));
  worker.signal(SIGTERM);
  REQUIRE(worker.wait_draining());
  CHECK(worker.dispatch(WorkerUnderTest::command(201, {"true"})) == "draining");
  CHECK(worker.nodes().size() == 1);
  REQUIRE(::system(("touch " + go).c_str()) == 0);
  CHECK(worker.wait_exit() == 0);
  CHECK(worker.nodes().empty());
  CHECK(master.outcome(200).state == "succeeded");
  CHECK(master.log(200, 1, 7) == "up\nout\n");
}

TEST_CASE("worker: of two words about its drain the later counts, and it says which it has heard") {
  FakeMaster master;
  WorkerUnderTest worker;
  worker.start();
  REQUIRE(!worker.join(master).incarnation.empty());
  const auto item = [](std::int64_t run) { return WorkerUnderTest::command(run, {"true"}); };
  REQUIRE(worker.drain(true, 5));
  CHECK(worker.dispatch(item(220)) == "draining");
  const auto drained = worker.hello(master, 1);
  REQUIRE(drained);
  CHECK((drained->draining && drained->drain_told && drained->drain_order == 5));
  REQUIRE(worker.drain(false, 7));
  REQUIRE(worker.drain(true, 6));  // it was on its way for long
  CHECK(worker.dispatch(item(221)) == "none");
  const auto resumed = worker.hello(master, 1);
  REQUIRE(resumed);
  CHECK((!resumed->draining && !resumed->drain_told && resumed->drain_order == 7));
}

TEST_CASE("worker: a new leader gets at once what the old one did not store") {
  FakeMaster old_leader;
  FakeMaster new_leader;
  WorkerUnderTest worker;
  worker.start();
  REQUIRE(!worker.join(old_leader).incarnation.empty());
  old_leader.set_deaf(true);
  REQUIRE(worker.dispatch(WorkerUnderTest::command(400, by_shell("echo kept; exit 5"))) == "none");
  REQUIRE(worker.wait_finished(400));
  REQUIRE(worker.hello(new_leader, 2));
  CHECK(new_leader.outcome(400).exit_status == 5);
  CHECK(new_leader.log(400, 1, 5) == "kept\n");
  CHECK_FALSE(old_leader.has_outcome(400));
  CHECK(worker.dispatch(WorkerUnderTest::command(401, {"true"}), 1) == "old_epoch");
  CHECK(worker.dispatch(WorkerUnderTest::command(401, {"true"}), 2) == "none");
  CHECK(new_leader.outcome(401).state == "succeeded");
}

TEST_CASE("worker: at the drain deadline, running attempts are handed over") {
  FakeMaster master;
  WorkerUnderTest worker({.id = "w1", .binary = ROTA_WORKER, .extra_yaml = "drain_deadline_ms: 200\n"});
  worker.start();
  REQUIRE_MESSAGE(!worker.join(master).incarnation.empty(), worker.log_text());
  REQUIRE(worker.dispatch(WorkerUnderTest::command(210, by_shell("echo up; exec sleep 60"))) == "none");
  REQUIRE(master.wait_log(210, 1, "up"));
  worker.signal(SIGTERM);
  CHECK(worker.wait_exit() == 0);
  CHECK(master.outcome(210).state == "lost");
}

TEST_CASE("worker: a rival with its id leaves with exit 2, and the first stays") {
  FakeMaster master;
  WorkerUnderTest worker;
  worker.start();
  const auto life = worker.join(master);
  REQUIRE(!life.incarnation.empty());
  WorkerUnderTest rival({}, worker);
  rival.start();
  CHECK(rival.wait_exit() == 2);
  const auto left = worker.nodes();
  REQUIRE(left.size() == 1);
  CHECK(left.front().key == life);
}

TEST_CASE("worker: when the warden hangs, the proper lets the vouchers lapse and kills by itself") {
  FakeMaster master;
  WorkerUnderTest worker(brief());
  worker.start();
  const auto life = worker.join(master);
  REQUIRE(!life.incarnation.empty());
  REQUIRE(worker.dispatch(WorkerUnderTest::command(310, by_shell("echo up; while :; do :; done"))) == "none");
  REQUIRE(master.wait_log(310, 1, "up"));
  const pid_t warden = worker.parent_of(worker.proper());
  REQUIRE(::kill(warden, SIGSTOP) == 0);
  CHECK(eventually([&] { return worker.living().empty(); }));
  REQUIRE(::kill(warden, SIGCONT) == 0);
  // Without a voucher the warden ends the proper too; the next one tells of it.
  REQUIRE(!worker.join(master, 1, life.incarnation).incarnation.empty());
  const auto outcome = master.outcome(310);
  CHECK(outcome.state == "lost");
  CHECK(outcome.signal == SIGKILL);
}

TEST_CASE("worker: without any voucher its commands are killed, and reported when one is back") {
  FakeMaster master;
  bool leader_vouches = false;
  SUBCASE("the leader alone vouches: it lives on") { leader_vouches = true; }
  SUBCASE("nobody vouches") {}
  const Vouching longer_grant{kBrief.session, Millis{30'000}};
  WorkerUnderTest worker({.id = "w1", .binary = ROTA_WORKER, .extra_yaml = {},
                          .vouching = leader_vouches ? longer_grant : kBrief});
  worker.start();
  const auto life = worker.join(master);
  REQUIRE(!life.incarnation.empty());
  REQUIRE(worker.dispatch(WorkerUnderTest::command(300, by_shell("echo up; exec sleep 60"))) == "none");
  REQUIRE(master.wait_log(300, 1, "up"));
  ZookeeperPause pause;
  if (leader_vouches) {
    std::this_thread::sleep_for(Millis{5000});  // ZooKeeper's lease is over
    CHECK_FALSE(master.has_outcome(300));
    CHECK(worker.inventory().attempts.size() == 1);
  } else {
    const pid_t first = worker.proper();
    master.set_vouching(false);
    // The warden kills the proper with them; the next one finds the end, and tells it later.
    CHECK(eventually([&] { return worker.living().empty() && !WorkerUnderTest::is_up(first); }));
    pause.end();
    master.set_vouching(true);
    REQUIRE(!worker.join(master, 1, life.incarnation).incarnation.empty());
    const auto outcome = master.outcome(300);
    CHECK(outcome.state == "lost");
    CHECK(outcome.signal == SIGKILL);
  }
}

}  // namespace rota::testing
