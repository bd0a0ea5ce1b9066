// What is kept for a wide run (a worker, a limit) is let go as soon as the run cannot start for another reason.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "harness.h"
#include "master/core/workers/scale_leaving.h"
#include "state_surgery.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Overlap;
using model::QuotaOf;
using model::Reason;
using model::RunState;

namespace {

JobBuilder wide_job(const std::string& name, std::int32_t slots, model::Amounts needs = {}) {
  return a_job(name).overlap(Overlap::Allow).takes(slots, std::move(needs));
}

bool runs_on_worker(const Harness& h, RunId run, const std::string& worker) {
  const RunState state = h.state(run);
  return (state == RunState::Dispatched || state == RunState::Running) && h.run(run).progress.worker.id == worker;
}

const LifeEntry& life_named(Harness& h, const std::string& id) {
  return *StateSurgery::state_of(*h.scheduler).find_life(model::WorkerKey{id, "i1"});
}

SetQuota most_slots(QuotaOf of, const std::string& name, std::int64_t slots) {
  SetQuota event;
  event.of = of;
  event.name = name;
  event.slots = slots;
  return event;
}

model::WorkerInfo in_pool(const std::string& id, std::int32_t slots, const std::string& pool) {
  model::WorkerInfo info = a_worker(id, slots);
  info.pool = pool;
  return info;
}

model::WorkerInfo of_rank(const std::string& id, std::int32_t slots, std::int32_t rank) {
  model::WorkerInfo info = a_worker(id, slots);
  info.rank = rank;
  return info;
}

}  // namespace

TEST_CASE("needs: no limit is kept for a run that waits for a semaphore") {
  Harness h;
  h.join(a_worker("w1", 100));
  REQUIRE(h.set_semaphore("s", 0));
  REQUIRE(h.set_quota(most_slots(QuotaOf::Space, "default", 4)));
  h.apply(wide_job("narrow", 1));
  h.apply(wide_job("three", 3).uses({{"s", 1}}));
  h.run_now("narrow");
  const RunId second = h.run_now("narrow");
  const RunId three = h.run_now("three");
  CHECK(runs_on_worker(h, h.run_now("narrow"), "w1"));
  CHECK(runs_on_worker(h, h.run_now("narrow"), "w1"));
  REQUIRE(h.set_semaphore("s", 1));
  CHECK(h.state(three) == RunState::Queued);
  h.report(second, RunState::Succeeded);
  CHECK_FALSE(runs_on_worker(h, h.run_now("narrow"), "w1"));  // kept by now
}

TEST_CASE("needs: a limit that is kept is let go when the semaphore of the run is closed") {
  Harness h;
  h.join(a_worker("w1", 100));
  REQUIRE(h.set_semaphore("s", 1));
  REQUIRE(h.set_quota(most_slots(QuotaOf::Space, "default", 4)));
  h.apply(wide_job("narrow", 1));
  h.apply(wide_job("three", 3).uses({{"s", 1}}));
  h.run_now("narrow");
  h.run_now("narrow");
  const RunId three = h.run_now("three"), behind = h.run_now("narrow");
  REQUIRE(h.state(behind) == RunState::Queued);
  REQUIRE(h.set_semaphore("s", 0));
  CHECK(runs_on_worker(h, behind, "w1"));
  CHECK(h.state(three) == RunState::Queued);
}

TEST_CASE("needs: a limit that is kept is let go when the only worker that could take the run leaves") {
  Harness h;
  h.join(in_pool("a1", 8, "a"));
  h.join(in_pool("b1", 8, "b"));
  REQUIRE(h.set_quota(most_slots(QuotaOf::Space, "default", 4)));
  h.apply(wide_job("narrow", 1).pool("b"));
  h.apply(wide_job("three", 3).pool("a"));
  h.run_now("narrow");
  h.run_now("narrow");
  const RunId three = h.run_now("three"), behind = h.run_now("narrow");
  REQUIRE(h.state(behind) == RunState::Queued);
  h.leave({"a1", "i1"});
  CHECK(runs_on_worker(h, behind, "b1"));
  CHECK(h.state(three) == RunState::Queued);
}

TEST_CASE("needs: a kept worker and a kept limit do not wait for each other") {
  Harness h;
  h.join(a_worker("w", 4));
  h.apply(wide_job("on-w", 1).on_worker("w"));
  h.apply(wide_job("two", 2));
  h.apply(wide_job("four", 4));
  std::vector<RunId> others;
  h.apply(wide_job("narrow", 1).pool("b"));
  h.join(in_pool("b1", 8, "b"));
  REQUIRE(h.set_quota(most_slots(QuotaOf::Space, "default", 4)));
  std::vector<RunId> narrow;
  for (int i = 0; i < 2; ++i) narrow.push_back(h.run_now("narrow"));
  const RunId on_w = h.run_now("on-w");
  const RunId four = h.run_now("four");    // W is kept for it
  REQUIRE(life_named(h, "w").kept_for() != nullptr);
  h.join(a_worker("v", 2));
  const RunId two = h.run_now("two");      // V has room for it: the limit is kept for it
  REQUIRE(StateSurgery::state_of(*h.scheduler).quotas().keeps_for(two));
  h.leave({"v", "i1"});
  for (const RunId run : narrow) h.report(run, RunState::Succeeded);
  h.report(on_w, RunState::Succeeded);
  const RunId first = runs_on_worker(h, two, "w") ? two : four;
  REQUIRE(runs_on_worker(h, first, "w"));
  h.report(first, RunState::Succeeded);
  CHECK(runs_on_worker(h, first == two ? four : two, "w"));
}

TEST_CASE("needs: a limit keeps no more for a run than that takes") {
  Harness h;
  h.join(a_worker("w1", 100));
  h.join(in_pool("b1", 100, "b"));
  REQUIRE(h.set_quota(most_slots(QuotaOf::Pool, "default", 4)));
  REQUIRE(h.set_quota(most_slots(QuotaOf::Space, "default", 6)));
  h.apply(wide_job("far", 1).pool("b"));
  h.apply(wide_job("three", 3));
  h.apply(wide_job("other", 1));
  const RunId far[] = {h.run_now("far"), h.run_now("far"), h.run_now("far")};
  const RunId near = h.run_now("other"), next = h.run_now("other");
  const RunId three = h.run_now("three");  // both limits are kept for it
  REQUIRE(h.set_quota(most_slots(QuotaOf::Space, "default", 5)));
  h.report(near, RunState::Succeeded);
  h.report(next, RunState::Succeeded);     // the pool has room for it and for one more, the namespace has not
  REQUIRE(h.state(three) == RunState::Queued);
  const State& state = StateSurgery::state_of(*h.scheduler);
  CHECK(state.quotas().find(QuotaOf::Space, "default")->is_full());
  CHECK_FALSE(state.quotas().find(QuotaOf::Pool, "default")->is_full());
  h.report(far[0], RunState::Succeeded);
  CHECK(runs_on_worker(h, three, "w1"));
}

TEST_CASE("needs: no worker is kept for a run that takes more than a limit") {
  Harness h;
  h.join(a_worker("w1", 4));
  REQUIRE(h.set_quota(most_slots(QuotaOf::Space, "default", 2)));
  h.apply(wide_job("busy", 1));
  h.apply(wide_job("four", 4));
  h.run_now("busy");
  const RunId four = h.run_now("four");
  CHECK(h.state(four) == RunState::Queued);
  CHECK(life_named(h, "w1").kept_for() == nullptr);
}

TEST_CASE("needs: what a worker lost to attempts that could not be killed is not offered to wide runs") {
  Harness h;
  SUBCASE("any worker") {
    h.join(a_worker_with("w1", 4, {{"gpu", 2}}));
    h.apply(wide_job("lost", 1, {{"gpu", 1}}).retries(0));
    h.apply(wide_job("both", 1, {{"gpu", 2}}));
    h.apply(wide_job("four", 4));
    const RunId lost = h.run_now("lost"), both = h.run_now("both");
    REQUIRE(life_named(h, "w1").kept_for() != nullptr);
    h.accept(lost);
    h.report(lost, RunState::KillFailed);
    CHECK(life_named(h, "w1").kept_for() == nullptr);
    CHECK(h.view(both).reason == Reason::NoWorkerHas);
    const RunId four = h.run_now("four");
    CHECK(life_named(h, "w1").kept_for() == nullptr);
    CHECK(h.reason(four) == Reason::NoWorkerHas);
    h.join(a_worker_with("w2", 4, {{"gpu", 2}}));
    CHECK(runs_on_worker(h, both, "w2"));
  }
  SUBCASE("the first one") {
    h.join(of_rank("w1", 4, 1));
    h.apply(wide_job("lost", 1).retries(0));
    h.apply(wide_job("four", 4).route(model::RouteKind::First));
    const RunId lost = h.run_now("lost"), four = h.run_now("four");
    h.join(of_rank("w2", 4, 2));
    REQUIRE(h.state(four) == RunState::Queued);
    h.accept(lost);
    h.report(lost, RunState::KillFailed);
    CHECK(runs_on_worker(h, four, "w2"));
  }
}

TEST_CASE("needs: a run of route first does not go to a kept worker that is not the first any more") {
  Harness h;
  const model::WorkerInfo first = of_rank("w1", 2, 1);
  h.join(first);
  h.join(of_rank("w2", 2, 2));
  h.apply(wide_job("on-1", 1).on_worker("w1"));
  h.apply(wide_job("on-2", 1).on_worker("w2"));
  h.apply(wide_job("whole", 2).route(model::RouteKind::First));
  const RunId one = h.run_now("on-1"), two = h.run_now("on-2");
  h.accept(one);
  const RunId whole = h.run_now("whole");
  REQUIRE(life_named(h, "w1").kept_for() != nullptr);
  h.leave(first.key);
  REQUIRE(life_named(h, "w2").kept_for() != nullptr);
  h.handle(WorkerSeen{first});
  h.inventory(first.key, {{{one, 1}, model::HeldAttempt::State::Running, {}, {}}});
  CHECK(life_named(h, "w2").kept_for() == nullptr);
  h.report(two, RunState::Succeeded);
  CHECK(h.state(whole) == RunState::Queued);
  h.report(one, RunState::Succeeded);
  CHECK(runs_on_worker(h, whole, "w1"));
}

TEST_CASE("needs: a worker that leaves for scale counts with the slots that its attempts take") {
  Harness h;
  h.join(a_worker("w1", 4));
  h.apply(wide_job("three", 3));
  h.run_now("three");
  State& state = StateSurgery::state_of(*h.scheduler);
  state.scaling().leaving()["w1"].pool = "default";
  CHECK(count_leaving(state, "default").slots == 3);
  state.scaling().leaving().clear();
}

TEST_CASE("needs: late wide runs are caught up only where their limits have room for all of it") {
  Harness h;
  h.join(a_worker("w1", 100));
  QuotaOf of = QuotaOf::Pool;
  SUBCASE("of a pool") {}
  SUBCASE("of a namespace") { of = QuotaOf::Space; }
  REQUIRE(h.set_quota(most_slots(of, "default", 4)));
  h.apply(wide_job("narrow", 1));
  h.apply(wide_job("three", 3).every(1h).grace(10s).late(model::LatePolicy::FireAll));
  h.run_now("narrow");
  const RunId second = h.run_now("narrow");
  h.now.wall += 1h + 30min;
  h.now.mono += 1h + 30min;
  h.tick();
  for (int i = 0; i < 20; ++i) h.advance(100ms);
  CHECK(runs_on_worker(h, h.run_now("narrow"), "w1"));
  static_cast<void>(second);
}
