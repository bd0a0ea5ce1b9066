// Runs that take several slots, or amounts beside them, example by example. What workers hold is compared with a
// reference in needs_model_test.cpp.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "harness.h"
#include "state_surgery.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Overlap;
using model::QuotaOf;
using model::Reason;
using model::RunState;

namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

JobBuilder wide(const std::string& name, std::int32_t slots, model::Amounts needs = {}) {
  return a_job(name).overlap(Overlap::Allow).takes(slots, std::move(needs));
}

bool is_held_by(const Harness& h, RunId run, const std::string& worker) {
  const RunState state = h.state(run);
  return (state == RunState::Dispatched || state == RunState::Running) && h.run(run).progress.worker.id == worker;
}

const LifeEntry& life_of(Harness& h, const std::string& id) {
  return *StateSurgery::state_of(*h.scheduler).find_life(model::WorkerKey{id, "i1"});
}

SetQuota limit_of(QuotaOf of, const std::string& name, std::int64_t slots) {
  SetQuota event;
  event.of = of;
  event.name = name;
  event.slots = slots;
  return event;
}

std::unique_ptr<Harness> take_over_with(const Harness& before, const model::WorkerInfo& worker) {
  auto next = std::make_unique<Harness>(before.recovered(), CoreOptions{}, Epoch{before.epoch.value + 1});
  next->versions = before.versions;
  next->now = before.now;
  next->handle(WorkerSeen{worker});
  next->listed();
  std::vector<model::HeldAttempt> attempts;
  for (const auto& [id, run] : before.runs) {
    if (run.progress.state != RunState::Dispatched && run.progress.state != RunState::Running) continue;
    attempts.push_back({{id, run.progress.attempt}, model::HeldAttempt::State::Running, {}, {}});
  }
  next->inventory(worker.key, attempts);
  return next;
}

}  // namespace

TEST_CASE("needs: a run takes its slots and amounts, and what it takes is sent with it") {
  Harness h;
  h.join(a_worker_with("w1", 4, {{"memory", 8 * kGiB}, {"gpu", 1}}));
  h.apply(wide("a", 2, {{"memory", 3 * kGiB}, {"gpu", 1}}));
  const RunId run = h.run_now("a");
  REQUIRE(is_held_by(h, run, "w1"));
  const auto sent = h.pop_dispatches();
  REQUIRE(sent.size() == 1);
  CHECK(sent[0].demand == model::Demand{2, {{"memory", 3 * kGiB}, {"gpu", 1}}});
  CHECK(life_of(h, "w1").free_slots() == 2);
  CHECK(life_of(h, "w1").free_of("memory") == 5 * kGiB);
  h.report(run, RunState::Succeeded);
  CHECK(life_of(h, "w1").free_slots() == 4);
  CHECK(life_of(h, "w1").used().empty());
}

TEST_CASE("needs: the sum admitted never exceeds the worker's slots, nor any of its amounts") {
  Harness h;
  h.join(a_worker_with("w1", 5, {{"memory", 8 * kGiB}}));
  h.apply(wide("slots", 2));
  h.apply(wide("memory", 1, {{"memory", 5 * kGiB}}));
  const RunId first = h.run_now("slots"), second = h.run_now("memory"), third = h.run_now("memory");
  const RunId fourth = h.run_now("slots"), fifth = h.run_now("slots");
  CHECK(is_held_by(h, first, "w1"));
  CHECK(is_held_by(h, second, "w1"));
  CHECK(h.state(third) == RunState::Queued);
  CHECK(h.reason(third) == Reason::AllSlotsBusy);
  CHECK_FALSE(is_held_by(h, fifth, "w1"));
  h.report(second, RunState::Succeeded);
  CHECK(is_held_by(h, third, "w1"));
  h.report(first, RunState::Succeeded);
  CHECK(is_held_by(h, fourth, "w1"));
}

TEST_CASE("needs: a worker that has not as a whole what a run needs is no candidate") {
  Harness h;
  h.join(a_worker_with("w1", 8, {{"memory", 4 * kGiB}}));
  h.apply(wide("big", 1, {{"memory", 8 * kGiB}}));
  h.apply(wide("many", 9));
  h.apply(wide("gpu", 1, {{"gpu", 1}}));
  const RunId big = h.run_now("big"), many = h.run_now("many"), gpu = h.run_now("gpu");
  for (const RunId run : {big, many, gpu}) {
    CHECK(h.state(run) == RunState::Queued);
    CHECK(h.reason(run) == Reason::NoWorkerHas);
    CHECK(h.view(run).reason == Reason::NoWorkerHas);
  }
  CHECK(h.view(big).detail == "it takes 1 slot, memory 8GiB: no worker that may take it has that as a whole");
  h.join(a_worker_with("w2", 9, {{"memory", 9 * kGiB}, {"gpu", 2}}));
  CHECK(is_held_by(h, big, "w2"));
  CHECK(h.view(many).reason == Reason::AllSlotsBusy);
  CHECK(h.view(gpu).reason == Reason::AllSlotsBusy);  // what is left there is kept for the one before it
  h.report(big, RunState::Succeeded);
  CHECK(is_held_by(h, many, "w2"));
  h.report(many, RunState::Succeeded);
  CHECK(is_held_by(h, gpu, "w2"));
}

TEST_CASE("needs: an older worker, which counts attempts alone, gets no wide run") {
  Harness h;
  model::WorkerInfo older = a_worker("w1", 8);
  older.offers.reset();
  h.join(older);
  h.apply(wide("a", 2));
  h.apply(wide("narrow", 1));
  const RunId run = h.run_now("a");
  CHECK(h.reason(run) == Reason::NoWorkerHas);
  CHECK(is_held_by(h, h.run_now("narrow"), "w1"));
}

TEST_CASE("needs: a wide run whose turn has come is not passed forever by narrow ones") {
  Harness h;
  h.join(a_worker("w1", 4));
  h.apply(wide("narrow", 1));
  h.apply(wide("whole", 4));
  std::vector<RunId> narrow;
  for (int i = 0; i < 4; ++i) narrow.push_back(h.run_now("narrow"));
  const RunId whole = h.run_now("whole");
  CHECK(h.state(whole) == RunState::Queued);
  int started = 0;
  for (int i = 0; i < 50 && !is_held_by(h, whole, "w1"); ++i, ++started) {
    narrow.push_back(h.run_now("narrow"));
    const auto running = std::ranges::find_if(narrow, [&](RunId run) { return is_held_by(h, run, "w1"); });
    REQUIRE(running != narrow.end());
    h.report(*running, RunState::Succeeded);
  }
  CHECK(is_held_by(h, whole, "w1"));
  CHECK(started == 4);
}

TEST_CASE("needs: whoever waits for a wide run is told which worker is kept, and for which run") {
  Harness h;
  h.join(a_worker("w1", 2));
  h.apply(wide("narrow", 1));
  h.apply(wide("whole", 2));
  const RunId first = h.run_now("narrow"), second = h.run_now("narrow");
  const RunId whole = h.run_now("whole");
  h.report(first, RunState::Succeeded);
  const RunId behind = h.run_now("narrow");
  const std::string one = std::to_string(second.value), of = std::to_string(whole.value);
  CHECK(h.view(whole).detail ==
        "it takes 2 slots; what becomes free on worker w1 is kept for it: there 1 slot are free, the rest is held by "
        "runs " + one);
  CHECK(h.view(behind).reason == Reason::AllSlotsBusy);
  CHECK(h.view(behind).detail == "what becomes free on worker w1 is kept for run " + of + ", which takes 2 slots");
  h.cancel(whole);
  CHECK(is_held_by(h, behind, "w1"));
}

TEST_CASE("needs: a kept worker takes what leaves room for the wide run") {
  Harness h;
  h.join(a_worker_with("w1", 8, {{"memory", 8 * kGiB}}));
  h.apply(wide("half", 1, {{"memory", 5 * kGiB}}));
  h.apply(wide("narrow", 1));
  const RunId first = h.run_now("half"), second = h.run_now("half");
  CHECK(h.state(second) == RunState::Queued);
  REQUIRE(life_of(h, "w1").kept_for() != nullptr);
  for (int i = 0; i < 6; ++i) CHECK(is_held_by(h, h.run_now("narrow"), "w1"));
  const RunId last = h.run_now("narrow");  // its slot is the wide run's
  CHECK(h.state(last) == RunState::Queued);
  h.report(first, RunState::Succeeded);
  CHECK(is_held_by(h, second, "w1"));
}

TEST_CASE("needs: a worker that goes or is drained is kept no longer, another is") {
  Harness h;
  h.join(a_worker("w1", 2));
  h.apply(wide("narrow", 1));
  h.apply(wide("whole", 2));
  h.run_now("narrow");
  const RunId whole = h.run_now("whole");
  REQUIRE(life_of(h, "w1").kept_for() != nullptr);
  h.leave({"w1", "i1"});
  CHECK(h.state(whole) == RunState::Queued);
  h.join(a_worker("w2", 2));
  CHECK(is_held_by(h, whole, "w2"));
}

TEST_CASE("needs: a new leader counts what attempts of before take") {
  Harness before;
  before.join(a_worker_with("w1", 4, {{"memory", 8 * kGiB}}));
  before.apply(wide("a", 3, {{"memory", 5 * kGiB}}));
  before.apply(wide("b", 2));
  before.apply(wide("c", 1, {{"memory", 4 * kGiB}}));
  const RunId run = before.run_now("a");
  auto h = take_over_with(before, a_worker_with("w1", 4, {{"memory", 8 * kGiB}}));
  CHECK(life_of(*h, "w1").free_slots() == 1);
  CHECK(life_of(*h, "w1").free_of("memory") == 3 * kGiB);
  const RunId b = h->run_now("b"), c = h->run_now("c");
  CHECK(h->state(b) == RunState::Queued);
  CHECK(h->state(c) == RunState::Queued);
  h->report(run, RunState::Succeeded);
  CHECK(is_held_by(*h, b, "w1"));
  CHECK(is_held_by(*h, c, "w1"));
}

TEST_CASE("needs: what could not be killed for sure keeps what it took") {
  Harness h;
  h.join(a_worker_with("w1", 4, {{"memory", 8 * kGiB}}));
  h.apply(wide("a", 3, {{"memory", 5 * kGiB}}).retries(0));
  const RunId run = h.run_now("a");
  h.accept(run);
  h.report(run, RunState::KillFailed);
  CHECK(life_of(h, "w1").used_slots() == 0);
  CHECK(life_of(h, "w1").free_slots() == 1);
  CHECK(life_of(h, "w1").free_of("memory") == 3 * kGiB);
}

TEST_CASE("needs: limits of pools and namespaces count slots") {
  Harness h;
  h.join(a_worker("w1", 100));
  QuotaOf of = QuotaOf::Pool;
  SUBCASE("of a pool") {}
  SUBCASE("of a namespace") { of = QuotaOf::Space; }
  REQUIRE(h.set_quota(limit_of(of, "default", 5)));
  h.apply(wide("two", 2));
  const RunId first = h.run_now("two"), second = h.run_now("two"), third = h.run_now("two");
  CHECK(is_held_by(h, first, "w1"));
  CHECK(is_held_by(h, second, "w1"));
  CHECK(h.state(third) == RunState::Queued);
  CHECK(h.reason(third) == (of == QuotaOf::Pool ? Reason::PoolLimit : Reason::NamespaceSlots));
  h.report(first, RunState::Succeeded);
  CHECK(is_held_by(h, third, "w1"));
}

TEST_CASE("needs: what becomes free below a limit is kept for the wide run whose turn has come") {
  Harness h;
  h.join(a_worker("w1", 100));
  QuotaOf of = QuotaOf::Pool;
  SUBCASE("of a pool") {}
  SUBCASE("of a namespace") { of = QuotaOf::Space; }
  REQUIRE(h.set_quota(limit_of(of, "default", 3)));
  h.apply(wide("narrow", 1));
  h.apply(wide("three", 3));
  std::vector<RunId> running = {h.run_now("narrow"), h.run_now("narrow"), h.run_now("narrow")};
  const RunId three = h.run_now("three");
  for (int i = 0; i < 3; ++i) {
    h.run_now("narrow");
    CHECK(h.state(three) == RunState::Queued);
    h.report(running[static_cast<std::size_t>(i)], RunState::Succeeded);
  }
  CHECK(is_held_by(h, three, "w1"));
}

TEST_CASE("needs: a run that takes more than a limit allows stands in nobody's way") {
  Harness h;
  h.join(a_worker("w1", 100));
  REQUIRE(h.set_quota(limit_of(QuotaOf::Space, "default", 2)));
  h.apply(wide("three", 3));
  h.apply(wide("narrow", 1));
  const RunId three = h.run_now("three");
  CHECK(h.state(three) == RunState::Queued);
  CHECK(h.view(three).reason == Reason::NamespaceSlots);
  CHECK(h.view(three).detail ==
        "it takes 3 slots, and max-slots of namespace default is 2; raise it, or give the job less slots");
  CHECK(is_held_by(h, h.run_now("narrow"), "w1"));
  CHECK(is_held_by(h, h.run_now("narrow"), "w1"));
  REQUIRE(h.set_quota(limit_of(QuotaOf::Space, "default", 5)));
  CHECK(is_held_by(h, three, "w1"));
}

TEST_CASE("needs: routes with one worker in mind wait for that one's room") {
  Harness h;
  model::WorkerInfo first = a_worker("w1", 2), second = a_worker("w2", 4);
  first.rank = 1;
  second.rank = 2;
  h.join(first);
  h.join(second);
  h.apply(wide("narrow", 1).on_worker("w2"));
  h.apply(wide("first", 3).route(model::RouteKind::First));
  h.run_now("narrow");
  h.run_now("narrow");
  const RunId run = h.run_now("first");  // w1 has not three slots as a whole
  CHECK(h.state(run) == RunState::Queued);
  REQUIRE(life_of(h, "w2").kept_for() != nullptr);
}

TEST_CASE("needs: least_loaded and shares go by slots, not by attempts") {
  Harness h;
  h.join(a_worker("w1", 4));
  h.join(a_worker("w2", 4));
  h.apply(wide("two", 2).on_worker("w1"));
  h.apply(wide("narrow", 1));
  h.apply(wide("one", 1).on_worker("w2"));
  h.run_now("two");
  h.run_now("one");
  CHECK(is_held_by(h, h.run_now("narrow"), "w2"));
}
