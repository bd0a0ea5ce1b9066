// Random histories of one lease, each from its seed: lost questions and answers, threads that stand still, hosts'
// clocks that go at rates of their own. What the electors promise must hold at every moment.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "master/cluster/lease_elector.h"

using namespace rota;
using namespace rota::master::cluster;

namespace {

constexpr LeaseTimes kStormTimes{Millis{2000}, Millis{200}};
constexpr Millis kMoment{10};

struct Storm {
  std::mt19937_64 dice;
  bool is_calm = false;
  FakeClock clock;                 ///< the server's
  std::string tag, words;
  MonoTime until{};

  explicit Storm(std::uint64_t seed) : dice(seed) {}
  bool happens(int percent) { return !is_calm && static_cast<int>(dice() % 100) < percent; }
  bool is_held() const { return !tag.empty() && clock.mono() < until; }
};

struct StormBoard final : LeaseBoard {
  Storm& storm;
  explicit StormBoard(Storm& of) : storm(of) {}

  template <typename Value, typename Deed>
  Result<Value> call(const Deed& deed) {
    const Error unknown(ErrorCode::UnknownOutcome, "no answer");
    if (storm.happens(15)) return fail(unknown);  // the question is lost
    Value value = deed();
    if (storm.happens(15)) return fail(unknown);  // the answer is
    return value;
  }
  Result<LeaseSight> hold(const std::string& tag, const std::string& words) override {
    return call<LeaseSight>([&] {
      if (!storm.is_held() || storm.tag == tag) {
        storm.tag = tag;
        storm.words = words;
        storm.until = storm.clock.mono() + kStormTimes.lease;
      }
      return LeaseSight{storm.tag == tag, storm.words};
    });
  }
  Result<LeaseSight> look() override {
    return call<LeaseSight>([&] { return LeaseSight{false, storm.is_held() ? storm.words : ""}; });
  }
  Result<void> release(const std::string& tag) override {
    auto done = call<bool>([&] {
      if (storm.tag == tag) storm.tag.clear();
      return true;
    });
    return done ? Result<void>() : fail(done.error());
  }
};

/// A master whose host's clock is up to 4 % fast or slow.
struct StormMaster final : ElectorObserver {
  Storm& storm;
  FakeClock clock;
  const double rate;
  double owed_ms = 0;
  int due_in = 0, still_for = 0;   ///< moments
  bool told_first = false;
  LeaseElector elector;

  StormMaster(Storm& of, const std::string& id)
      : storm(of),
        rate(0.96 + static_cast<double>(of.dice() % 81) / 1000),
        elector(std::make_unique<StormBoard>(of), id, kStormTimes, *this, clock) {
    elector.campaign();
  }
  void elected() override {
    CHECK_FALSE(told_first);
    told_first = true;
  }
  void lost(std::string_view) override {
    CHECK(told_first);
    told_first = false;
  }
  void live_a_moment() {
    owed_ms += static_cast<double>(kMoment.count()) * rate;
    const Millis whole{static_cast<std::int64_t>(owed_ms)};
    clock.advance(whole);
    owed_ms -= static_cast<double>(whole.count());
    if (still_for > 0) {
      --still_for;
      return;
    }
    if (storm.happens(1) && storm.happens(20)) still_for = static_cast<int>(storm.dice() % 500);
    if (storm.happens(1)) elector.resign();
    if (storm.happens(5) || storm.is_calm) elector.campaign();
    if (--due_in > 0) return;
    due_in = static_cast<int>(kStormTimes.beat / kMoment);
    elector.step();
  }
};

int firsts_of(const std::vector<std::unique_ptr<StormMaster>>& masters) {
  int count = 0;
  for (const auto& one : masters) count += one->elector.is_first() ? 1 : 0;
  return count;
}

/// Moments at which two masters called themselves first, and how many do at the end.
struct StormResult {
  int doubled = 0;
  int first = 0;
};

StormResult live_through(std::uint64_t seed) {
  Storm storm(seed);
  std::vector<std::unique_ptr<StormMaster>> masters;
  for (const char* id : {"m1", "m2", "m3"}) masters.push_back(std::make_unique<StormMaster>(storm, id));
  int doubled = 0;
  for (int moment = 0; moment < 6000; ++moment) {
    storm.is_calm = moment >= 5000;
    storm.clock.advance(kMoment);
    for (auto& one : masters) {
      one->live_a_moment();
      doubled += firsts_of(masters) > 1 ? 1 : 0;
    }
  }
  return {doubled, firsts_of(masters)};
}

}  // namespace

TEST_CASE("lease elector: in no history two call themselves first, and after it exactly one does") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const StormResult result = live_through(seed);
    CHECK(result.doubled == 0);
    CHECK(result.first == 1);
  }
}
