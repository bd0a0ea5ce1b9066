// Routes by figures: how even, how stable, and the same as a plain search whatever changes.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "master/core/admission/route.h"

using namespace rota;
using namespace rota::master::core;
using model::RouteKind;
using model::WorkerKey;

namespace {

WorkerKey worker(int number) { return {"w" + std::to_string(number), "i1"}; }

/// Numbers from a fixed seed.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}
  std::int32_t roll(std::uint64_t sides) {
    return static_cast<std::int32_t>((mix(seed_ += 0x9E37'79B9'7F4A'7C15ull)) % sides);
  }

 private:
  std::uint64_t seed_;
};

}  // namespace

TEST_CASE("route: random is even by chi-square, for runs and for attempts of one run") {
  constexpr int kWorkers = 10, kDraws = 100'000;
  OpenWorkers open;
  for (int i = 0; i < kWorkers; ++i) open.insert(worker(i), {});
  for (const bool same_run : {false, true}) {
    std::map<std::string, int> share;
    for (int i = 0; i < kDraws; ++i) {
      const RunId run{(std::int64_t{7} << kIdCounterBits) + (same_run ? 1 : i)};
      const model::AttemptKey attempt{run, same_run ? i : 1};
      ++share[choose_worker({RouteKind::Random, "", "", lot_of(attempt), 0}, open)->id];
    }
    double chi_square = 0;
    const double expected = double{kDraws} / kWorkers;
    for (const auto& [id, count] : share) chi_square += (count - expected) * (count - expected) / expected;
    MESSAGE("chi-square " << chi_square << " of 9 degrees");
    CHECK(share.size() == kWorkers);
    CHECK(chi_square < 27.88);  // exceeded by chance once in 1,000
    CHECK(chi_square > 1.15);   // as even as that is no chance, either
  }
}

TEST_CASE("route: a consistent hash moves the keys of the worker that goes, and no others") {
  constexpr int kKeys = 100'000;
  for (const int workers : {2, 3, 5, 10, 50}) {
    OpenWorkers open;
    for (int i = 0; i < workers; ++i) open.insert(worker(i), {});
    std::vector<std::string> before;
    const auto favourite = [&](int key) {
      const std::uint64_t hash = hash_of("customer " + std::to_string(key));
      return choose_worker({RouteKind::ConsistentHash, "", "", 0, hash}, open)->id;
    };
    for (int key = 0; key < kKeys; ++key) before.push_back(favourite(key));
    int most = 0;
    for (const int gone : {0, workers / 2, workers - 1}) {
      open.erase(worker(gone));
      int moved = 0;
      for (int key = 0; key < kKeys; ++key) {
        const bool is_same = favourite(key) == before[static_cast<std::size_t>(key)];
        moved += is_same ? 0 : 1;
        REQUIRE(is_same == (before[static_cast<std::size_t>(key)] != worker(gone).id));
      }
      most = std::max(most, moved);
      open.insert({worker(gone).id, "i2"}, {});  // back in another life: its keys are its own again
      for (int key = 0; key < kKeys; key += 100) {
        REQUIRE(favourite(key) == before[static_cast<std::size_t>(key)]);
      }
      open.erase({worker(gone).id, "i2"});
      open.insert(worker(gone), {});
    }
    MESSAGE(workers << " workers: at most " << most << " of " << kKeys << " keys move");
    CHECK(most <= kKeys / workers + kKeys / 50);
  }
}

TEST_CASE("route: each order agrees with a plain search over 1,000,000 changes") {
  std::map<WorkerKey, WorkerLoad> plain;
  OpenWorkers open;
  Dice dice(20261123);
  const auto random_load = [&dice] {
    const auto phase = static_cast<std::uint32_t>(dice.roll(4));
    return WorkerLoad{dice.roll(4), 1 + dice.roll(4), dice.roll(6),  dice.roll(71), dice.roll(3),
                      dice.roll(9), dice.roll(9),     dice.roll(50), phase};
  };
  constexpr int kRouteEvents = 1'000'000;
  for (int step = 0; step < kRouteEvents; ++step) {
    const WorkerKey key = worker(dice.roll(12));
    const auto found = plain.find(key);
    const auto from = found == plain.end() ? std::nullopt : std::optional(found->second);
    const auto to = dice.roll(3) == 0 ? std::nullopt : std::optional(random_load());
    open.change(key, from, to);
    if (found != plain.end()) plain.erase(found);
    if (to) plain.emplace(key, *to);
    const auto order = static_cast<WorkerOrder>(dice.roll(kWorkerOrders));
    const WorkerKey *first = nullptr, *last = nullptr;
    for (const auto& [id, load] : plain) {
      if (first == nullptr || is_before(order, load, plain.at(*first))) first = &id;
      if (last == nullptr || !is_before(order, load, plain.at(*last))) last = &id;
    }
    const WorkerKey *found_first = open.first(order), *found_last = open.last(order);
    REQUIRE((first == nullptr) == (found_first == nullptr));
    const bool differs = first != nullptr && (*first != *found_first || *last != *found_last);
    if (differs) FAIL("order differs at step " << step);
    if (step % 1000 == 0) REQUIRE(open.is_whole());
    if (!plain.empty()) REQUIRE(plain.contains(*open.by_lot(static_cast<std::uint64_t>(step))));
  }
}

TEST_CASE("route: keys with parameters in them") {
  model::JobRules rules;
  CHECK(route_key_of(rules, nullptr, JobId{7}) == "job 7");
  rules.route_key = "{{param.customer}}/{{param.region}}";
  const model::Parameters parameters = {{"customer", "acme"}, {"region", "eu"}};
  CHECK(route_key_of(rules, &parameters, JobId{7}) == "acme/eu");
  CHECK(route_key_of(rules, nullptr, JobId{7}) == "/");
  rules.route_key = "{{{{{{param.region}}}}{{param.none}}!";
  CHECK(route_key_of(rules, &parameters, JobId{7}) == "{{eu}}!");
}
