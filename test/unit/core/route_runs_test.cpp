// Routes from the job to the attempt: who gets the runs, and how even that stays when leaders change.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Reason;
using model::RouteKind;
using model::RunState;

namespace {

using Shares = std::map<std::string, int>;

/// One job "j", workers, and leaders one after the other.
class Cluster {
 public:
  Cluster(RouteKind route, std::vector<model::WorkerInfo> workers, std::string key = {})
      : workers_(std::move(workers)), term_(std::make_unique<Harness>()) {
    term_->apply(a_job().route(route, std::move(key)).overlap(model::Overlap::Allow));
    for (const model::WorkerInfo& worker : workers_) term_->join(worker);
  }

  Harness& term() { return *term_; }
  void take_over() {
    auto next = std::make_unique<Harness>(term_->recovered(), CoreOptions{}, Epoch{term_->epoch.value + 1});
    next->versions = term_->versions;
    next->now = term_->now;
    for (const model::WorkerInfo& worker : workers_) next->handle(WorkerSeen{worker});
    next->listed();
    for (const model::WorkerInfo& worker : workers_) next->inventory(worker.key);
    term_ = std::move(next);
  }
  RunId begin(const model::Parameters& parameters = {}) {
    RunNow event{Token{++tokens_}, "tester", "default", "j", {}, {}, nullptr};
    if (!parameters.empty()) event.parameters = std::make_shared<const model::Parameters>(parameters);
    term_->handle(event);
    return std::get<Submitted>(term_->last.replies.at(0).body).items.at(0).run;
  }
  std::string worker_of(RunId run) { return term_->run(run).progress.worker.id; }
  /// A run that ends before the next one begins.
  std::string run_one(const model::Parameters& parameters = {}) {
    const RunId run = begin(parameters);
    term_->report(run, RunState::Succeeded);
    return worker_of(run);
  }
  /// Of so many runs, with a takeover after each `term` of them; 0: none.
  Shares shares(int runs, int term) {
    Shares shares;
    for (int i = 0; i < runs; ++i) {
      if (term > 0 && i > 0 && i % term == 0) take_over();
      ++shares[run_one()];
    }
    return shares;
  }

 private:
  std::vector<model::WorkerInfo> workers_;
  std::unique_ptr<Harness> term_;
  std::int64_t tokens_ = 1'000'000;
};

std::vector<model::WorkerInfo> workers(int count, std::int32_t slots = 4) {
  std::vector<model::WorkerInfo> all;
  for (int i = 1; i <= count; ++i) all.push_back(a_worker("w" + std::to_string(i), slots));
  return all;
}

model::WorkerInfo ranked(const char* id, std::int32_t rank, std::int32_t slots = 1) {
  model::WorkerInfo info = a_worker(id, slots);
  info.rank = rank;
  return info;
}

/// The largest distance from the expected share, in per cent of it.
double worst(const Shares& shares, const std::map<std::string, double>& expected) {
  double most = 0;
  for (const auto& [id, runs] : expected) {
    const auto found = shares.find(id);
    const double got = found == shares.end() ? 0 : found->second;
    most = std::max(most, std::abs(got - runs) / runs * 100);
  }
  return most;
}

void renew_with(Harness& h, const model::WorkerKey& key, std::int32_t cpu, std::int32_t memory) {
  RenewAsked event{Token{5}, key};
  event.vitals.emplace();
  event.vitals->cpu_percent = cpu;
  event.vitals->memory_percent = memory;
  h.handle(event);
}

}  // namespace

TEST_CASE("route: weighted round robin keeps its shares within 5 % over 1,000 runs, whoever leads") {
  const std::int32_t weights[] = {50, 100, 100, 250};
  for (const int term : {0, 500, 101, 37}) {
    std::vector<model::WorkerInfo> all = workers(4);
    std::map<std::string, double> expected;
    for (std::size_t i = 0; i < 4; ++i) {
      all[i].weight = weights[i];
      expected[all[i].key.id] = weights[i] * 2;
    }
    const double off = worst(Cluster(RouteKind::WeightedRoundRobin, all).shares(1000, term), expected);
    MESSAGE("a Term of " << term << " runs: at most " << off << " % off");
    CHECK(off <= 5);
  }
}

TEST_CASE("route: a worker that was full makes up for some of its weighted turns, and no more") {
  std::vector<model::WorkerInfo> all = workers(2);
  all[0].slots = 1;
  all[1].slots = 1000;
  Cluster cluster(RouteKind::WeightedRoundRobin, all);
  std::vector<RunId> held;
  while (held.size() < 3) held.push_back(cluster.begin());
  const auto on_first = std::ranges::find_if(held, [&](RunId run) { return cluster.worker_of(run) == "w1"; });
  REQUIRE(on_first != held.end());
  for (int i = 0; i < 200; ++i) CHECK(cluster.worker_of(cluster.begin()) == "w2");
  cluster.term().report(*on_first, RunState::Succeeded);
  const Shares shares = cluster.shares(100, 0);
  CHECK(shares.at("w1") >= 50);
  CHECK(shares.at("w1") <= 50 + 16);
}

TEST_CASE("route: turns, counts and draws stay even when leaders change") {
  const std::map<std::string, double> even = {{"w1", 250}, {"w2", 250}, {"w3", 250}, {"w4", 250}};
  for (const RouteKind route : {RouteKind::RoundRobin, RouteKind::LeastFrequentlyUsed,
                                RouteKind::LeastRecentlyUsed, RouteKind::LeastConnections}) {
    for (const int term : {0, 250, 10}) {
      const double off = worst(Cluster(route, workers(4)).shares(1000, term), even);
      MESSAGE("route " << static_cast<int>(route) << ", Terms of " << term << " runs: at most " << off << " % off");
      CHECK(off <= (term == 10 ? 10 : 5));
    }
  }
}

TEST_CASE("route: random is even by chi-square from job to attempt, whoever leads") {
  for (const int term : {0, 50}) {
    const Shares shares = Cluster(RouteKind::Random, workers(5)).shares(2000, term);
    double chi_square = 0;
    for (const auto& [id, runs] : shares) chi_square += (runs - 400.0) * (runs - 400.0) / 400.0;
    MESSAGE("chi-square " << chi_square << " of 4 degrees");
    CHECK(shares.size() == 5);
    CHECK(chi_square < 18.47);  // exceeded by chance once in 1,000
    CHECK(chi_square > 0.09);
  }
}

TEST_CASE("route: least frequently used does not flood a worker that joins late") {
  Cluster cluster(RouteKind::LeastFrequentlyUsed, workers(3));
  cluster.shares(300, 0);
  cluster.term().join(a_worker("w9"));
  CHECK(cluster.shares(40, 0).at("w9") <= 11);
}

TEST_CASE("route: least loaded goes by 0.4 CPU + 0.3 memory + 0.3 running/slots") {
  std::vector<model::WorkerInfo> all = workers(4);
  const std::int32_t slots[] = {4, 10, 20, 7}, cpu[] = {100, 50, 0, 25}, memory[] = {50, 50, 100, 0};
  for (std::size_t i = 0; i < 4; ++i) all[i].slots = slots[i];
  Cluster cluster(RouteKind::LeastLoaded, all);
  for (std::size_t i = 0; i < 4; ++i) renew_with(cluster.term(), all[i].key, cpu[i], memory[i]);
  std::map<std::string, int> used;
  for (int run = 0; run < 41; ++run) {
    std::map<std::string, double> loads;
    double least = 1000;
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string& id = all[i].key.id;
      if (used[id] == slots[i]) continue;
      loads[id] = 0.4 * cpu[i] + 0.3 * memory[i] + 0.3 * 100.0 * used[id] / slots[i];
      least = std::min(least, loads[id]);
    }
    const std::string chosen = cluster.worker_of(cluster.begin());
    REQUIRE(loads.contains(chosen));
    CHECK(loads[chosen] <= least + 1e-9);
    ++used[chosen];
  }
}

TEST_CASE("route: the load of a host follows its figures smoothly, and small changes do not count") {
  Cluster cluster(RouteKind::LeastLoaded, workers(2));
  Harness& h = cluster.term();
  renew_with(h, {"w1", "i1"}, 10, 0);
  renew_with(h, {"w2", "i1"}, 13, 0);
  CHECK(cluster.run_one() != cluster.run_one());  // both stand at 5 points
  renew_with(h, {"w1", "i1"}, 100, 0);            // 4 + 0.3 x 36 = 14.8 points
  std::vector<RunId> held;
  for (const char* next : {"w2", "w2", "w1"}) {   // 5, 12.5 and 20 points beside 15
    held.push_back(cluster.begin());
    CHECK(cluster.worker_of(held.back()) == next);
  }
  for (const RunId run : held) h.report(run, RunState::Succeeded);
  for (int i = 0; i < 10; ++i) renew_with(h, {"w2", "i1"}, 100, 0);
  CHECK(cluster.run_one() == "w1");
}

TEST_CASE("route: fastest response finds the worker that accepts first, and leaves it when it becomes slow") {
  Cluster cluster(RouteKind::FastestResponse, workers(3));
  std::map<std::string, Millis> takes = {{"w1", 60ms}, {"w2", 5ms}, {"w3", 20ms}};
  const auto share = [&](int runs) {
    Shares shares;
    for (int i = 0; i < runs; ++i) {
      Harness& h = cluster.term();
      const RunId run = cluster.begin();
      h.now.wall += takes[cluster.worker_of(run)];
      h.now.mono += takes[cluster.worker_of(run)];
      h.accept(run);
      h.report(run, RunState::Succeeded);
      ++shares[cluster.worker_of(run)];
    }
    return shares;
  };
  CHECK(share(200)["w2"] >= 170);
  takes["w2"] = 400ms;
  CHECK(share(200)["w3"] >= 160);
  cluster.take_over();
  CHECK(share(200)["w3"] >= 170);
  takes["w2"] = 1ms;  // measured again from time to time
  CHECK(share(400)["w2"] >= 200);
}

TEST_CASE("route: first waits for the lowest rank, busyover does not") {
  const std::vector<model::WorkerInfo> all = {ranked("w1", 30), ranked("w2", 10), ranked("w3", 20)};
  Cluster waits(RouteKind::First, all), goes_on(RouteKind::Busyover, all);
  const RunId first = waits.begin(), second = waits.begin();
  CHECK(waits.worker_of(first) == "w2");
  CHECK(waits.term().state(second) == RunState::Queued);
  CHECK(waits.term().view(second).reason == Reason::AllSlotsBusy);
  CHECK(waits.term().view(second).detail == "its route waits for worker w2");
  waits.term().report(first, RunState::Succeeded);
  CHECK(waits.worker_of(second) == "w2");
  for (const char* expected : {"w2", "w3", "w1"}) CHECK(goes_on.worker_of(goes_on.begin()) == expected);
}

TEST_CASE("route: last takes the highest rank and id, and the next one when that leaves or drains") {
  Cluster cluster(RouteKind::Last,
                  {ranked("w1", 100), ranked("w2", 100), ranked("w3", 100), ranked("w0", 101)});
  CHECK(cluster.worker_of(cluster.begin()) == "w0");
  const RunId waits = cluster.begin();
  CHECK(cluster.term().state(waits) == RunState::Queued);
  cluster.term().leave({"w0", "i1"});
  CHECK(cluster.worker_of(waits) == "w3");
  const RunId next = cluster.begin();
  CHECK(cluster.term().state(next) == RunState::Queued);
  cluster.term().handle(DrainWorker{Token{3}, "tester", "w3", true, Millis{0}, "upkeep"});
  CHECK(cluster.worker_of(next) == "w2");
}

TEST_CASE("route: failover leaves a worker that refuses, first stays with it") {
  const std::vector<model::WorkerInfo> all = {ranked("w1", 1, 4), ranked("w2", 2, 4)};
  Cluster stays(RouteKind::First, all), leaves(RouteKind::Failover, all);
  for (Cluster* cluster : {&stays, &leaves}) {
    const RunId run = cluster->begin();
    CHECK(cluster->worker_of(run) == "w1");
    cluster->term().refuse(run, model::Refusal::NoVoucher);
    CHECK((cluster->worker_of(run) == "w2") == (cluster == &leaves));
    cluster->term().advance(2s);  // its rest is over
    CHECK(cluster->worker_of(cluster->begin()) == "w1");
  }
}

TEST_CASE("route: failover waits while its worker has no free slot") {
  Cluster cluster(RouteKind::Failover, {ranked("w1", 1), ranked("w2", 2)});
  CHECK(cluster.worker_of(cluster.begin()) == "w1");
  const RunId waits = cluster.begin();
  CHECK(cluster.term().state(waits) == RunState::Queued);
  cluster.term().leave({"w1", "i1"});
  CHECK(cluster.worker_of(waits) == "w2");
}

TEST_CASE("route: first leaves a worker whose only slot is lost") {
  Cluster cluster(RouteKind::First, {ranked("w1", 1), ranked("w2", 2)});
  const RunId killed = cluster.begin(), waits = cluster.begin();
  CHECK(cluster.term().state(waits) == RunState::Queued);
  cluster.term().report(killed, RunState::KillFailed);  // its processes may still live
  CHECK(cluster.worker_of(waits) == "w2");
}

TEST_CASE("route: a rank that is changed while runs wait counts at once") {
  Cluster cluster(RouteKind::First, {ranked("w1", 1), ranked("w2", 2)});
  cluster.begin();
  const RunId waits = cluster.begin();
  CHECK(cluster.term().state(waits) == RunState::Queued);
  cluster.term().handle(WorkerSeen{ranked("w2", 0)});
  CHECK(cluster.worker_of(waits) == "w2");
}

TEST_CASE("route: first goes by the workers that know the handler") {
  model::WorkerInfo knows = ranked("w9", 100);
  knows.handlers = {"command", "sums"};
  Harness h;
  h.join(ranked("w1", 1));
  h.join(knows);
  h.apply(a_job().route(RouteKind::First).handler("sums"));
  CHECK(h.run(h.run_now("j")).progress.worker.id == "w9");
}

TEST_CASE("route: consistent hash gives a key to one worker, and moves only the keys of one that goes") {
  Cluster cluster(RouteKind::ConsistentHash, workers(4), "{{param.customer}}");
  std::map<std::string, std::string> home;
  constexpr int kKeys = 400;
  const auto customer = [](int i) { return model::Parameters{{"customer", "c" + std::to_string(i)}}; };
  Shares shares;
  for (int i = 0; i < kKeys; ++i) {
    const std::string worker = cluster.run_one(customer(i));
    home["c" + std::to_string(i)] = worker;
    ++shares[worker];
  }
  for (const auto& [id, keys] : shares) CHECK(std::abs(keys - 100) < 35);
  const auto moved = [&] {
    int count = 0;
    for (int i = 0; i < kKeys; ++i) {
      const bool is_home = cluster.run_one(customer(i)) == home["c" + std::to_string(i)];
      count += is_home ? 0 : 1;
    }
    return count;
  };
  CHECK(moved() == 0);
  cluster.take_over();
  CHECK(moved() == 0);
  cluster.term().leave({"w2", "i1"});
  CHECK(moved() == shares.at("w2"));
  cluster.term().join(a_worker("w2", 4, "i2"));
  CHECK(moved() == 0);
}

TEST_CASE("route: a key's favourite that has no free slot is passed over for the moment") {
  Cluster cluster(RouteKind::ConsistentHash, workers(3, 1));
  const RunId first = cluster.begin(), second = cluster.begin();
  const std::string favourite = cluster.worker_of(first);
  CHECK(cluster.worker_of(second) != favourite);
  cluster.term().report(first, RunState::Succeeded);
  CHECK(cluster.worker_of(cluster.begin()) == favourite);
}
