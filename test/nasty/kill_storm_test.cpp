// kill -9 and SIGSTOP of the worker's processes at random moments while ledger jobs run; the jobs' own ledger is
// the judge. ROTA_NASTY_LONG=1: 200 rounds and another seed each time.
#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "test/nasty/nasty_worker.h"
#include "test/support/stall_meter.h"

namespace rota::testing {

namespace {

constexpr std::size_t kAtOnce = 6;

/// A minimal leader: keeps runs going, and tries one again only when its worker has reported that the previous
/// attempt is over.
class SmallLeader {
 public:
  SmallLeader(WorkerUnderTest& worker, FakeMaster& master, std::string ledger)
      : worker_(worker), master_(master), ledger_(std::move(ledger)) {}

  void keep_busy(std::mt19937_64& dice) {
    collect_ends();
    send_waiting();
    while (attempts_.size() < kAtOnce) {
      const std::int64_t run = next_run_++;
      durations_[run] = 50 + static_cast<int>(dice() % 900);
      attempts_[run] = 1;
      waiting_.insert(run);
      send_waiting();
      if (waiting_.contains(run)) return;
    }
  }
  /// A new life reported its inventory: attempts that are not in it are dead.
  void reconcile(const thrift::Inventory& inventory) {
    // Handles no outcome first: the inventory cannot know an attempt that is dispatched because of one now.
    // Earlier attempts of a run may be in it too: as outcomes not acknowledged yet, or as tombstones.
    std::set<std::pair<std::int64_t, int>> held;
    for (const auto& one : inventory.attempts) held.emplace(one.attempt.run, one.attempt.attempt);
    for (auto& [run, attempt] : attempts_) {
      if (held.contains({run, attempt})) continue;
      if (!master_.has_outcome(run, attempt) && !waiting_.contains(run)) {
        try_again(run, attempt, "not in the inventory");
      }
    }
  }
  /// Checks the worker every second: it may lose a life by itself when the machine stands still for longer than its
  /// vouchers last.
  bool finish(MonoTime deadline, const std::function<void()>& look_after) {
    MonoTime next_look = BootClock::now() + Millis{1000};
    while (!attempts_.empty() && BootClock::now() < deadline) {
      collect_ends();
      send_waiting();
      std::this_thread::sleep_for(Millis{10});
      if (BootClock::now() < next_look) continue;
      look_after();
      next_look = BootClock::now() + Millis{1000};
    }
    return attempts_.empty();
  }
  int runs() const { return static_cast<int>(next_run_ - 1); }
  int tried_again() const { return tried_again_; }
  int succeeded() const { return succeeded_; }
  const std::map<std::int64_t, int>& open() const { return attempts_; }
  /// What it saw about an attempt, and when, by the ledger's clock.
  void note(std::int64_t run, int attempt, const std::string& what) {
    notes_ += std::to_string(floor_ms(BootClock::now().time_since_epoch()).count()) + " ms: run " + std::to_string(run) +
              " attempt " + std::to_string(attempt) + " " + what + "\n";
  }
  void note(const std::string& what) { note(0, 0, what); }
  const std::string& notes() const { return notes_; }

 private:
  void collect_ends() {
    for (auto it = attempts_.begin(); it != attempts_.end();) {
      const auto [run, attempt] = *it++;
      if (!master_.has_outcome(run, attempt)) continue;
      const auto outcome = master_.outcome(run, Millis{0}, attempt);
      if (outcome.state == "succeeded") {
        ++succeeded_;
        attempts_.erase(run);
      } else {
        try_again(run, attempts_[run], outcome.state + " " + outcome.reason);
      }
    }
  }
  void try_again(std::int64_t run, int& attempt, const std::string& why) {
    note(run, attempt, why);
    ++attempt;
    ++tried_again_;
    waiting_.insert(run);
  }
  /// A refusal is final, so it tries the next attempt. No answer means unknown: it sends exactly the same
  /// attempt again.
  void send_waiting() {
    const std::set<std::int64_t> now = waiting_;
    for (const std::int64_t run : now) {
      auto item = WorkerUnderTest::command(
          run, {LEDGER_JOB, ledger_, std::to_string(durations_[run]), "--ignore-term"});
      item.attempt.__set_attempt(attempts_[run]);
      const std::string answer = worker_.dispatch(item);
      note(run, attempts_[run], "dispatch answered " + answer);
      if (answer == "none") waiting_.erase(run);
      if (answer != "none" && !answer.starts_with("rpc:")) ++attempts_[run];
    }
  }

  WorkerUnderTest& worker_;
  FakeMaster& master_;
  const std::string ledger_;
  std::int64_t next_run_ = 1;
  std::map<std::int64_t, int> attempts_;   ///< open runs
  std::map<std::int64_t, int> durations_;
  std::set<std::int64_t> waiting_;         ///< open runs whose attempt no worker has accepted yet
  int tried_again_ = 0, succeeded_ = 0;
  std::string notes_;
};

/// The worker's three processes, by their pids on the host.
struct Processes {
  pid_t outer = -1, warden = -1, proper = -1;
};

Processes processes_of(WorkerUnderTest& worker) {
  Processes out;
  eventually([&] {  // a process that has just died has no parent
    out.proper = worker.proper();
    out.warden = WorkerUnderTest::parent_of(out.proper);
    out.outer = WorkerUnderTest::parent_of(out.warden);
    return out.proper > 1 && out.warden > 1 && out.outer > 1;
  });
  REQUIRE((out.proper > 1 && out.warden > 1 && out.outer > 1));
  return out;
}

enum class Blow { KillProper, KillWarden, KillBoth, KillOuter, StopProper, StopWarden, StopBoth, StopAll };
const char* const kBlowNames[] = {"kill proper", "kill warden", "kill both", "kill outer warden",
                                  "stop proper", "stop warden", "stop both", "stop all three"};

std::vector<pid_t> targets_of(Blow blow, const Processes& who) {
  switch (blow) {
    case Blow::KillProper: case Blow::StopProper: return {who.proper};
    case Blow::KillWarden: case Blow::StopWarden: return {who.warden};
    case Blow::KillBoth: case Blow::StopBoth: return {who.proper, who.warden};
    case Blow::KillOuter: return {who.outer};
    case Blow::StopAll: return {who.outer, who.warden, who.proper};
  }
  return {};
}

/// Strikes; stopped processes continue after `pause`. Restarts the worker if all of it is gone.
void strike(Blow blow, WorkerUnderTest& worker, Millis pause) {
  const bool is_kill = blow <= Blow::KillOuter;
  const Processes who = processes_of(worker);
  for (const pid_t pid : targets_of(blow, who)) ::kill(pid, is_kill ? SIGKILL : SIGSTOP);
  if (!is_kill) {
    std::this_thread::sleep_for(pause);
    for (const pid_t pid : targets_of(blow, who)) ::kill(pid, SIGCONT);
  }
  if (is_kill && blow != Blow::KillProper) {
    CHECK(worker.wait_exit() >= 0);
    worker.start();
  }
}

/// Says hello to the present life; waits until there is one.
std::string settle(WorkerUnderTest& worker, FakeMaster& master, SmallLeader& leader,
                   const std::string& life, bool is_another) {
  std::string now = life;
  if (is_another) now = worker.join(master, 1, life).incarnation;
  if (auto held = worker.hello(master, 1)) {
    leader.reconcile(*held);
    return now;
  }
  // It was killed for its vouchers after all.
  now = worker.join(master, 1, life).incarnation;
  if (auto held = worker.hello(master, 1)) leader.reconcile(*held);
  return now;
}

std::string judge(const std::string& ledger, int& status) {
  const std::string command = std::string("/usr/bin/python3 ") + LEDGER_CHECK + " " + ledger + " 2>&1";
  FILE* const pipe = ::popen(command.c_str(), "r");
  char line[1000] = {};
  (void)!::fread(line, 1, sizeof line - 1, pipe);
  status = WEXITSTATUS(::pclose(pipe));
  return line;
}

}  // namespace

TEST_CASE("kill storm: nothing ever lives twice, no result is lost, no orphan stays") {
  const int rounds = is_long_form() ? 200 : 20;
  const std::uint64_t seed = is_long_form() ? std::random_device{}() : 20;
  std::mt19937_64 dice(seed);
  FakeMaster master;
  WorkerUnderTest worker({.id = "w1", .binary = ROTA_WORKER, .extra_yaml = {}, .vouching = kBrief});
  worker.start();
  std::string life = worker.join(master).incarnation;
  REQUIRE_MESSAGE(!life.empty(), worker.log_text());
  const std::string ledger = "/dev/shm/" + worker.folder().substr(5) + ".ledger";
  SmallLeader leader(worker, master, ledger);
  std::map<std::string, int> blows;
  const MonoTime begun = BootClock::now();
  for (int round = 0; round < rounds; ++round) {
    const MonoTime until = BootClock::now() + Millis{100 + dice() % 700};
    while (BootClock::now() < until) {
      leader.keep_busy(dice);
      std::this_thread::sleep_for(Millis{20});
    }
    // Every strike occurs; every fourth stop is longer than the vouchers last.
    const auto blow = static_cast<Blow>(static_cast<std::uint64_t>(round) % 8);
    const bool is_long = blow >= Blow::StopProper && (round / 8 + round) % 4 == 0;
    ++blows[kBlowNames[static_cast<int>(blow)]];
    CAPTURE(round);
    CAPTURE(std::string(kBlowNames[static_cast<int>(blow)]));
    CAPTURE(seed);
    leader.note(std::string(kBlowNames[static_cast<int>(blow)]) + (is_long ? " for long" : ""));
    strike(blow, worker, Millis{is_long ? 4500 : 100 + dice() % 800});
    leader.note("blow is over");
    life = settle(worker, master, leader, life, blow <= Blow::KillOuter || is_long);
    leader.note("settled");
    REQUIRE_MESSAGE(!life.empty(), worker.log_text());
    CHECK(worker.living().size() <= kAtOnce);
  }
  const auto look_after = [&] { life = settle(worker, master, leader, life, false); };
  CHECK_MESSAGE(leader.finish(BootClock::now() + kPatience, look_after),
                "a run without a result: " << (leader.open().empty() ? 0 : leader.open().begin()->first));
  CHECK(eventually([&] { return worker.living().empty(); }));
  CHECK(leader.succeeded() == leader.runs());
  CHECK(master.bad_chunks() == 0);
  int status = -1;
  const std::string verdict = judge(ledger, status);
  CHECK_MESSAGE(status == 0, verdict);
  if (status == 0) {
    ::unlink(ledger.c_str());
  } else {
    std::ofstream(ledger + ".leader") << leader.notes();
    MESSAGE("the ledger and what the leader saw are kept: " << ledger << " " << ledger << ".leader");
  }
  MESSAGE("kill_storm seed=" << seed << " rounds=" << rounds << " seconds="
                             << floor_ms(BootClock::now() - begun).count() / 1000 << " runs="
                             << leader.runs() << " tried_again=" << leader.tried_again()
                             << " verdict: " << verdict);
}

TEST_CASE("kill storm: with proper and both wardens stopped, nothing outlives its voucher") {
  FakeMaster master;
  WorkerUnderTest worker({.id = "w1", .binary = ROTA_WORKER, .extra_yaml = {}, .vouching = kBrief});
  worker.start();
  const std::string life = worker.join(master).incarnation;
  REQUIRE_MESSAGE(!life.empty(), worker.log_text());
  auto item = WorkerUnderTest::command(
      1, by_sh("(setsid sleep 600 &); echo up; while :; do sleep 0.01; done"));
  REQUIRE(worker.dispatch(item) == "none");
  REQUIRE(master.wait_log(1, 1, "up"));
  const Processes who = processes_of(worker);
  const StallMeter stalls;
  const MonoTime stopped = BootClock::now();
  for (const pid_t pid : {who.outer, who.warden, who.proper}) ::kill(pid, SIGSTOP);
  // The longest voucher is the leader's grant: 3 s from its last answered renewal.
  CHECK(eventually([&] { return worker.living().empty(); }));
  const Millis took = floor_ms(BootClock::now() - stopped), fair = floor_ms(stalls.fair_since(stopped));
  CHECK(fair < Millis{3300});
  CHECK(WorkerUnderTest::is_up(who.warden));
  MESSAGE("all stopped: jobs dead after ms=" << took.count() << " without the machine's stalls ms=" << fair.count());
  for (const pid_t pid : {who.outer, who.warden, who.proper}) ::kill(pid, SIGCONT);
  REQUIRE(!worker.join(master, 1, life).incarnation.empty());
  const auto outcome = master.outcome(1);
  CHECK(outcome.state == "lost");
  CHECK(outcome.reason == "worker_lost");
}

}  // namespace rota::testing
