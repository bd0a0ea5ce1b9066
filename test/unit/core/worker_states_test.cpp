// Workers that get less, or nothing: who fails what succeeds elsewhere, who comes and goes, who is slow, loaded or
// unwell, and crowds that come back.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness.h"
#include "master/core/workers/worker_state_rules.h"
#include "master/core/workers/worker_words.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::RouteKind;
using model::RunState;
using model::WorkerHold;

namespace {

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

constexpr int kManyWorkers = 1000;

/// Workers w1 to wN of one pool, and a way to run a job on the one that is meant.
class WorkerPool {
 public:
  explicit WorkerPool(int size, CoreOptions options = {}) : options_(options), h_(std::make_unique<Harness>(Recovered{}, options)) {
    h_->listed();
    if (size >= kManyWorkers) h_->check_each = 50;
    for (int i = 1; i <= size; ++i) ids_.push_back("w" + std::to_string(i));
    for (const std::string& id : ids_) h_->join(a_worker(id));
    beat();
  }

  Harness& h() { return *h_; }
  WorkerView view(const std::string& id) {
    for (WorkerView& each : h_->scheduler->snapshot(h_->now).workers) {
      if (each.info->key.id == id) return std::move(each);
    }
    FAIL("no worker " << id);
    return {};
  }
  std::string state(const std::string& id) { return view(id).state; }
  std::string words(const std::string& id) { return remarks_on(view(id), h_->now.wall); }
  /// All that are here renew, once a second.
  void beat(Millis time = 1s) {
    for (Millis passed{0}; passed < time; passed += 1s) {
      for (const std::string& id : ids_) h_->renew({id, life_of(id)});
      h_->advance(1s);
    }
  }
  void renew_with(const std::string& id, std::int32_t load, Millis clock_offset, std::string health = "ok") {
    RenewAsked event{Token{++tokens_}, {id, life_of(id)}, {}, {}, clock_offset};
    event.vitals.emplace();
    event.vitals->load_percent = load;
    event.vitals->health = std::move(health);
    h_->handle(event);
  }
  /// A job of that name ends so on that worker. False: it did not start there.
  bool ends_on(const std::string& id, const std::string& job, RunState how) {
    if (!jobs_.contains(job)) jobs_[job] = h_->apply(a_job(job).on_worker(id).overlap(model::Overlap::Allow));
    h_->apply(a_job(job).on_worker(id).overlap(model::Overlap::Allow));
    const RunId run = h_->run_now(job);
    if (h_->state(run) != RunState::Dispatched) {
      h_->cancel(run);
      return false;
    }
    h_->report(run, how);
    return true;
  }
  void fail_there(const std::string& id, const std::string& job, const std::string& good) {
    REQUIRE(ends_on(id, job, RunState::Failed));
    REQUIRE(ends_on(good, job, RunState::Succeeded));
  }
  void exclude(const std::string& id, const std::string& good) {
    for (const char* job : {"a", "b", "c"}) fail_there(id, job + id, good);
  }
  void lose(const std::string& id) { h_->leave({id, life_of(id)}); }
  void come_back(const std::string& id) {
    ++lives_[id];
    h_->join(a_worker(id, 4, life_of(id)));
  }
  std::string life_of(const std::string& id) { return "i" + std::to_string(1 + lives_[id]); }
  std::map<std::string, int> shares(RouteKind route, int runs) {
    h_->apply(a_job("shared").route(route, route == RouteKind::ConsistentHash ? "{{param.k}}" : "").overlap(model::Overlap::Allow));
    std::map<std::string, int> shares;
    for (int i = 0; i < runs; ++i) {
      RunNow event{Token{++tokens_}, "t", "default", "shared", {}, {}, nullptr};
      event.parameters = std::make_shared<const model::Parameters>(model::Parameters{{"k", std::to_string(i)}});
      h_->handle(event);
      const RunId run = std::get<Submitted>(h_->last.replies.at(0).body).items.at(0).run;
      ++shares[h_->run(run).progress.worker.id];
      h_->report(run, RunState::Succeeded);
    }
    return shares;
  }
  void take_over() {
    auto next = std::make_unique<Harness>(h_->recovered(), options_, Epoch{h_->epoch.value + 1}, h_->now);
    next->versions = h_->versions;
    next->holds = h_->holds;
    next->check_each = h_->check_each;
    for (const std::string& id : ids_) next->handle(WorkerSeen{a_worker(id, 4, life_of(id))});
    next->listed();
    for (const std::string& id : ids_) next->inventory({id, life_of(id)});
    h_ = std::move(next);
  }

 private:
  CoreOptions options_;
  std::unique_ptr<Harness> h_;
  std::vector<std::string> ids_;
  std::map<std::string, JobId> jobs_;
  std::map<std::string, int> lives_;
  std::int64_t tokens_ = 5'000'000;
};

const WorkerHold& last_hold(WorkerPool& pool) { return pool.h().holds.rbegin()->second; }

}  // namespace

TEST_CASE("excluded: three jobs that failed there and succeeded elsewhere, and not two") {
  WorkerPool pool(4);
  pool.fail_there("w1", "a", "w2");
  pool.fail_there("w1", "b", "w2");
  pool.fail_there("w1", "b", "w3");
  CHECK(pool.state("w1") == "online");
  pool.fail_there("w1", "c", "w3");
  CHECK(pool.state("w1") == "excluded");
  CHECK(says(pool.words("w1"), "3 jobs failed here and succeeded elsewhere: a, b, c"));
  CHECK(last_hold(pool).until - last_hold(pool).since == 60s);
  CHECK_FALSE(pool.ends_on("w1", "d", RunState::Succeeded));
  CHECK(pool.shares(RouteKind::RoundRobin, 30) == std::map<std::string, int>{{"w2", 10}, {"w3", 10}, {"w4", 10}});
}

TEST_CASE("excluded: jobs that fail everywhere exclude nobody") {
  WorkerPool pool(4);
  for (const char* job : {"a", "b", "c", "d"}) {
    for (const char* id : {"w1", "w2", "w3", "w4"}) REQUIRE(pool.ends_on(id, job, RunState::Failed));
  }
  CHECK(pool.h().holds.empty());
}

TEST_CASE("excluded: a run that waits for such a worker says so") {
  WorkerPool pool(3);
  pool.exclude("w1", "w2");
  pool.h().apply(a_job("named").on_worker("w1"));
  const RunId run = pool.h().run_now("named");
  CHECK(pool.h().view(run).reason == model::Reason::WorkersDraining);
  const auto workers = pool.h().scheduler->snapshot(pool.h().now).workers;
  CHECK(who_takes_nothing(workers, "default", "w1") == "w1 is excluded until " + second_text(last_hold(pool).until));
}

TEST_CASE("excluded: after its time one attempt at a time, and a success ends it") {
  WorkerPool pool(3);
  pool.exclude("w1", "w2");
  pool.beat(61s);
  CHECK(pool.state("w1") == "excluded");
  CHECK(says(pool.words("w1"), "on trial"));
  pool.h().apply(a_job("slow").on_worker("w1").overlap(model::Overlap::Allow));
  const RunId one = pool.h().run_now("slow"), two = pool.h().run_now("slow");
  CHECK(pool.h().state(one) == RunState::Dispatched);
  CHECK(pool.h().state(two) == RunState::Queued);
  pool.h().report(one, RunState::Succeeded);
  CHECK(pool.state("w1") == "online");
  CHECK(pool.h().state(two) == RunState::Dispatched);
  CHECK(last_hold(pool).ended.has_value());
}

TEST_CASE("excluded: a trial that fails what succeeds elsewhere excludes for twice as long, up to ten times") {
  WorkerPool pool(3);
  pool.exclude("w1", "w2");
  for (const Millis time : {120s, 240s, 480s, 600s, 600s}) {
    pool.beat(last_hold(pool).until - pool.h().now.wall + 1s);
    pool.fail_there("w1", "a", "w2");
    REQUIRE(last_hold(pool).is_closed());
    CHECK(last_hold(pool).until - last_hold(pool).since == time);
  }
}

TEST_CASE("excluded: a job that fails everywhere does not end a trial badly") {
  WorkerPool pool(3);
  pool.exclude("w1", "w2");
  pool.beat(61s);
  REQUIRE(pool.ends_on("w1", "bad", RunState::Failed));
  REQUIRE(pool.ends_on("w2", "bad", RunState::Failed));
  CHECK(last_hold(pool).trial.has_value());
  REQUIRE(pool.ends_on("w1", "good", RunState::Succeeded));
  CHECK(pool.state("w1") == "online");
}

TEST_CASE("excluded: at most a third of a pool, the others get half of their share") {
  WorkerPool pool(5);
  pool.exclude("w1", "w5");
  CHECK(pool.state("w1") == "excluded");
  pool.exclude("w2", "w5");
  CHECK(pool.state("w2") == "warning");
  CHECK(says(pool.words("w2"), "not excluded: at most a third of a pool is"));
  CHECK(pool.h().holds.size() == 1);
  WorkerPool small(2);
  small.exclude("w1", "w2");
  CHECK(small.state("w1") == "warning");
  small.beat(11min);
  CHECK(small.state("w1") == "online");
}

TEST_CASE("excluded: when others go, it is let in again rather than more than a third being out") {
  WorkerPool pool(3);
  pool.exclude("w1", "w2");
  CHECK(last_hold(pool).is_closed());
  pool.lose("w3");
  CHECK(last_hold(pool).trial.has_value());
  CHECK(pool.ends_on("w1", "x", RunState::Succeeded));
}

TEST_CASE("excluded: a new leader goes on with it, by a row of its own") {
  WorkerPool pool(3);
  pool.exclude("w1", "w2");
  pool.beat(20s);
  const WorkerHold before = last_hold(pool);
  pool.take_over();
  CHECK(pool.state("w1") == "excluded");
  REQUIRE(pool.h().holds.size() == 2);
  CHECK(pool.h().holds.at(before.number).ended.has_value());
  CHECK(last_hold(pool).until == before.until);
  CHECK((last_hold(pool).number >> kIdCounterBits) == pool.h().epoch.value);
  CHECK_FALSE(pool.ends_on("w1", "x", RunState::Succeeded));
  pool.beat(41s);
  CHECK(last_hold(pool).trial.has_value());
  pool.take_over();
  CHECK(last_hold(pool).trial.has_value());
  CHECK(pool.ends_on("w1", "x", RunState::Succeeded));
  CHECK(pool.state("w1") == "online");
}

TEST_CASE("flapping: the fourth life within ten minutes waits, and longer each time") {
  WorkerPool pool(4);
  for (int i = 0; i < 2; ++i) {
    pool.lose("w1");
    pool.beat(20s);
    pool.come_back("w1");
    pool.beat(20s);
    CHECK(pool.state("w1") == "online");
  }
  pool.lose("w1");
  pool.come_back("w1");
  CHECK(pool.state("w1") == "flapping");
  CHECK(says(pool.words("w1"), "4 lives within 10m"));
  CHECK_FALSE(pool.ends_on("w1", "x", RunState::Succeeded));
  pool.beat(61s);
  CHECK(pool.state("w1") == "online");
  for (int i = 0; i < 3; ++i) {
    pool.lose("w1");
    pool.beat(5s);
    pool.come_back("w1");
  }
  CHECK(pool.state("w1") == "flapping");
  CHECK(last_hold(pool).until - last_hold(pool).since == 120s);
}

TEST_CASE("flapping: neither stops nor losses of ZooKeeper count") {
  WorkerPool pool(4);
  for (int i = 0; i < 5; ++i) {
    model::WorkerInfo stopping = a_worker("w1", 4, pool.life_of("w1"));
    stopping.draining = true;
    stopping.stops_at = pool.h().now.wall;
    pool.h().handle(WorkerSeen{stopping});
    pool.lose("w1");
    pool.come_back("w1");
  }
  CHECK(pool.h().holds.empty());
  for (int i = 0; i < 5; ++i) {
    for (const char* id : {"w1", "w2", "w3", "w4"}) pool.lose(id);
    for (const char* id : {"w1", "w2", "w3", "w4"}) pool.come_back(id);
    pool.beat(30s);
  }
  CHECK(pool.h().holds.empty());
}

TEST_CASE("warning: every sign, and half of the share for as long as it lasts") {
  WorkerPool pool(3);
  pool.renew_with("w1", 91, 0s);
  CHECK(pool.state("w1") == "warning");
  CHECK(says(pool.words("w1"), "half of its share: its load is 91 %"));
  pool.renew_with("w1", 88, 0s);
  CHECK(pool.state("w1") == "warning");
  pool.renew_with("w1", 80, 0s);
  CHECK(pool.state("w1") == "online");
  pool.renew_with("w1", 10, 0s, "degraded: memory: 10 MiB available (1 %)");
  CHECK(says(pool.words("w1"), "half of its share: degraded: memory"));
  pool.renew_with("w1", 10, 1500ms);
  CHECK(says(pool.words("w1"), "its clock is 1.5 s ahead"));
  CHECK(pool.view("w1").clock_offset == 1500ms);
  for (int i = 0; i < 4; ++i) pool.renew_with("w1", 10, -2s);
  CHECK(says(pool.words("w1"), "its clock is 2.0 s behind"));
  pool.renew_with("w1", 10, 0s);  // what was slow on its way says nothing
  CHECK(pool.state("w1") == "online");
}

TEST_CASE("warning: three missed beats, and one renewal ends it") {
  WorkerPool pool(3);
  for (int i = 0; i < 5; ++i) {
    pool.h().renew({"w2", "i1"});
    pool.h().advance(1s);
  }
  CHECK(pool.state("w1") == "warning");
  CHECK(pool.state("w2") == "online");
  CHECK(says(pool.words("w1"), "missed three beats"));
  pool.h().renew({"w1", "i1"});
  CHECK(pool.state("w1") == "online");
}

TEST_CASE("warning: half of the share over 1,000 runs, by every route with shares") {
  for (const RouteKind route : {RouteKind::RoundRobin, RouteKind::LeastLoaded, RouteKind::Random,
                                RouteKind::LeastFrequentlyUsed, RouteKind::LeastRecentlyUsed,
                                RouteKind::WeightedRoundRobin, RouteKind::LeastConnections,
                                RouteKind::ConsistentHash}) {
    CAPTURE(static_cast<int>(route));
    WorkerPool pool(4);
    pool.renew_with("w1", 95, 0s);
    const auto shares = pool.shares(route, 1000);
    const bool is_drawn = route == RouteKind::Random || route == RouteKind::ConsistentHash;
    const double slack = is_drawn ? 40 : 8;  // three standard deviations
    // A key of one that is left out goes to the next, so of keys it has half of a whole share.
    const double half = route == RouteKind::ConsistentHash ? 125 : 1000.0 / 7;
    CHECK(shares.at("w1") == doctest::Approx(half).epsilon(slack / half));
    CHECK(WorkerPool(4).shares(route, 1000).at("w1") > 200);
  }
}

TEST_CASE("warning: where all have half of their share, all have the same") {
  WorkerPool pool(4);
  for (const char* id : {"w1", "w2", "w3", "w4"}) pool.renew_with(id, 95, 0s);
  for (const auto& [id, runs] : pool.shares(RouteKind::LeastRecentlyUsed, 400)) CHECK(runs == 100);
}

TEST_CASE("warning: a run goes there when no other worker may take it") {
  WorkerPool pool(2);
  pool.renew_with("w1", 95, 0s);
  pool.lose("w2");
  CHECK(pool.shares(RouteKind::RoundRobin, 10).at("w1") == 10);
}

TEST_CASE("crowd: 500 of 1,000 that come back at once are let in over 5 s, and none after a takeover") {
  CoreOptions options;
  WorkerPool pool(1000, options);
  CHECK(pool.h().counter("let_in_later") > 0);
  pool.beat(6s);
  const auto open = [&] {
    int count = 0;
    for (const WorkerView& each : pool.h().scheduler->snapshot(pool.h().now).workers) count += gets_work(each) ? 1 : 0;
    return count;
  };
  CHECK(open() == 1000);
  for (int i = 1; i <= 500; ++i) pool.lose("w" + std::to_string(i));
  pool.h().advance(10s);
  for (int i = 1; i <= 500; ++i) pool.come_back("w" + std::to_string(i));
  CHECK(open() == 520);
  CHECK(says(pool.words("w400"), "many workers came back at once"));
  int before = 520;
  for (int second = 1; second <= 5; ++second) {
    pool.h().advance(1s);
    const int now = open();
    CHECK(now - before > 50);
    CHECK(now - before < 150);
    before = now;
  }
  CHECK(open() == 1000);
  pool.take_over();
  CHECK(open() == 1000);
}

TEST_CASE("offline: two witnesses, then dead, then forgotten") {
  CoreOptions options;
  options.dead_after = 60s;
  options.keep_offline = 1h;
  WorkerPool pool(3, options);
  pool.h().renew({"w1", "i1"});
  pool.lose("w1");
  CHECK(pool.state("w1") == "warning");
  for (int i = 0; i < 5; ++i) {
    pool.h().advance(1s);
    CHECK_FALSE(pool.h().renew({"w1", "i1"}));
  }
  CHECK(pool.state("w1") == "warning");
  CHECK(says(pool.words("w1"), "still asks for vouchers"));
  pool.h().advance(4s);
  CHECK(pool.state("w1") == "offline");
  pool.h().advance(60s);
  CHECK(pool.state("w1") == "dead");
  CHECK(says(pool.words("w1"), "for more than 60s"));
  pool.come_back("w1");
  CHECK(pool.state("w1") == "online");
}
