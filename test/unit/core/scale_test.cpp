// Wanted numbers of workers: stored before hooks are called, told until they are accepted, and nobody is stopped
// who has something to do.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::HookState;
using model::RunState;
using model::ScaleReason;

namespace {

using Words = std::vector<std::string>;

CoreOptions with_hooks() {
  CoreOptions options;
  options.hooks = {"local", "other"};
  options.scale_average = Millis{0};
  options.scale_cool_down = Millis{10'000};
  return options;
}

SetQuota scaled(std::int64_t least, std::int64_t most, const std::string& hook = "local") {
  SetQuota event;
  event.name = "default";
  event.min_workers = least;
  event.max_workers = most;
  event.hook = hook;
  return event;
}

/// It can be told that it drains, and its node says so at once.
model::WorkerInfo tellable(const std::string& id, std::int32_t slots = 2, const std::string& life = "i1") {
  model::WorkerInfo info = a_worker(id, slots, life);
  info.drain_told = false;
  return info;
}

void say_drained(Harness& h, const std::string& id, bool draining = true) {
  model::WorkerInfo info = tellable(id);
  info.draining = draining;
  info.drain_told = draining;
  h.handle(WorkerSeen{info});
}

std::string line_of(const model::ScaleChange& row) {
  std::string out = std::to_string(row.before) + ">" + std::to_string(row.after) + " " +
                    std::string(name_of(row.reason)) + " " + std::string(name_of(row.state));
  for (const auto& key : row.stoppable) out += " " + key.id;
  return out;
}

Words rows_of(const Harness& h) {
  Words out;
  for (const auto& [id, row] : h.scaling) out.push_back(line_of(row));
  return out;
}

void answer(Harness& h, const std::string& error = {}) {
  const model::ScaleChange& call = h.hook_calls.back();
  h.handle(HookCalled{call.pool, call.id, error.empty(), error});
}

/// The hook accepts all that it is told, also what is told then.
void accept_all(Harness& h) {
  static const std::string kNoError;
  for (std::size_t i = 0; i < h.hook_calls.size(); ++i) {
    h.handle(HookCalled{h.hook_calls[i].pool, h.hook_calls[i].id, true, kNoError});
  }
}

ScaleView shown_scale(Harness& h, const std::string& pool = "default") {
  for (const ScaleView& view : h.scheduler->snapshot(h.now).scaling) {
    if (view.pool == pool) return view;
  }
  return {};
}

std::vector<RunId> begin_work(Harness& h, int runs) {
  std::vector<RunId> ids;
  h.apply(a_job("work").overlap(model::Overlap::Allow));
  for (int i = 0; i < runs; ++i) ids.push_back(h.run_now("work"));
  return ids;
}

std::unique_ptr<Harness> next_term_of(const Harness& before, const CoreOptions& options = with_hooks()) {
  auto next = std::make_unique<Harness>(before.recovered(), options, Epoch{before.epoch.value + 1}, before.now);
  next->versions = before.versions;
  next->quotas = before.quotas;
  next->scaling = before.scaling;
  next->drains = before.drains;
  return next;
}

}  // namespace

TEST_CASE("scale: a pool that nobody has configured has a number, and no row") {
  Harness h({}, with_hooks());
  h.join(tellable("w1"));
  begin_work(h, 9);
  h.advance(1min);
  h.handle(TimePassed{});
  CHECK(h.scaling.empty());
  CHECK(shown_scale(h).wanted > 1);
  CHECK(shown_scale(h).here == 1);
}

TEST_CASE("scale: a change is stored in the batch that decides it, and then its hook is called") {
  Harness h({}, with_hooks());
  h.join(tellable("w1"));
  REQUIRE(h.set_quota(scaled(1, 5)));
  h.advance(2s);
  CHECK(rows_of(h) == Words{"1>1 hook open"});
  answer(h);
  begin_work(h, 4);
  h.advance(2s);
  CHECK(rows_of(h) == Words{"1>1 hook delivered", "1>4 load open"});
  REQUIRE(h.hook_calls.size() == 2);
  CHECK(h.hook_calls[0].id < h.hook_calls[1].id);
  answer(h, "status 500");
  CHECK(h.scaling.rbegin()->second.last_error == "status 500");
  h.advance(2s);
  REQUIRE(h.hook_calls.size() == 3);
  CHECK(h.hook_calls[2].id == h.hook_calls[1].id);  // the same number: it is the same call
  answer(h);
  CHECK(h.scaling.rbegin()->second.state == HookState::Delivered);
  CHECK(h.scaling.rbegin()->second.attempts == 2);
  h.advance(1min);
  CHECK(h.hook_calls.size() == 3);
}

TEST_CASE("scale: a hook that refuses is given up after so many tries, and hears of the next change") {
  CoreOptions options = with_hooks();
  options.scale_tries = 3;
  Harness h({}, options);
  h.join(tellable("w1"));
  REQUIRE(h.set_quota(scaled(1, 5)));
  for (int i = 0; i < 3; ++i) {
    h.advance(5s);
    answer(h, "no");
  }
  h.advance(1h);
  CHECK(h.hook_calls.size() == 3);
  CHECK(rows_of(h) == Words{"1>1 hook given_up"});
  CHECK(h.counter("hooks_given_up") == 1);
  REQUIRE(h.set_quota(scaled(3, 5)));
  h.advance(1s);
  CHECK(h.hook_calls.size() == 4);
}

TEST_CASE("scale: another minimum or maximum counts in its own batch") {
  Harness h({}, with_hooks());
  h.join(tellable("w1"));
  REQUIRE(h.set_quota(scaled(1, 5)));
  h.advance(2s);
  answer(h);
  REQUIRE(h.set_quota(scaled(3, 5)));
  CHECK(h.last.changes.scaling.size() == 1);
  CHECK(rows_of(h).back() == "1>3 minimum open");
  REQUIRE(h.set_quota(scaled(1, 2)));
  CHECK(rows_of(h) == Words{"1>1 hook delivered", "1>3 minimum replaced", "3>2 maximum open"});
  CHECK_FALSE(h.set_quota(scaled(4, 2)));
  CHECK_FALSE(h.set_quota(scaled(1, 2, "nobody")));
}

TEST_CASE("scale: fewer workers drain first, and only those with nothing to do may be stopped") {
  Harness h({}, with_hooks());
  for (const char* id : {"w1", "w2", "w3"}) h.join(tellable(id));
  REQUIRE(h.set_quota(scaled(1, 3)));
  const auto runs = begin_work(h, 6);
  for (const RunId run : runs) h.accept(run);
  h.advance(2s);
  accept_all(h);
  const std::string busy = h.run(runs[5]).progress.worker.id;
  for (std::size_t i = 0; i < 5; ++i) h.report(runs[i], RunState::Succeeded);
  h.advance(11s);
  CHECK(rows_of(h).back() == "3>1 load open");
  CHECK(h.scaling.rbegin()->second.stoppable.empty());
  CHECK(h.drains.size() == 2);
  CHECK_FALSE(h.drains.contains(busy));
  accept_all(h);
  for (const std::string id : {"w1", "w2", "w3"}) {
    if (id != busy) CHECK(h.drains.at(id).principal == "rota autoscale");
    if (id != busy) say_drained(h, id);
  }
  h.advance(2s);
  CHECK(h.scaling.rbegin()->second.stoppable.size() == 2);
  CHECK(name_of(h.scaling.rbegin()->second.reason) == "drained");
  CHECK(h.hook_calls.back().stoppable.size() == 2);
  CHECK_FALSE(model::is_final(h.state(runs[5])));
}

TEST_CASE("scale: a worker that drains while it has runs is not named before they end") {
  Harness h({}, with_hooks());
  for (const char* id : {"w1", "w2"}) h.join(tellable(id));
  REQUIRE(h.set_quota(scaled(2, 5)));
  const auto runs = begin_work(h, 4);
  for (const RunId run : runs) h.accept(run);
  h.advance(2s);
  answer(h);
  REQUIRE(h.set_quota(scaled(1, 1)));
  h.advance(2s);
  REQUIRE(h.drains.size() == 1);
  const std::string id = h.drains.begin()->first;
  say_drained(h, id);
  h.advance(2s);
  for (const auto& [number, row] : h.scaling) CHECK(row.stoppable.empty());
  for (const RunId run : runs) {
    if (h.run(run).progress.worker.id == id) h.report(run, RunState::Succeeded);
  }
  h.advance(2s);
  REQUIRE(h.scaling.rbegin()->second.stoppable.size() == 1);
  CHECK(h.scaling.rbegin()->second.stoppable[0].id == id);
  CHECK(h.pop_cancels().empty());
}

TEST_CASE("scale: when load returns, a worker that drains is taken back before a new one is asked for") {
  Harness h({}, with_hooks());
  for (const char* id : {"w1", "w2"}) h.join(tellable(id));
  REQUIRE(h.set_quota(scaled(1, 5)));
  h.advance(15s);
  REQUIRE(h.drains.size() == 1);
  CHECK(h.drains.begin()->second.draining);
  answer(h);
  begin_work(h, 4);
  h.advance(2s);
  CHECK_FALSE(h.drains.begin()->second.draining);
  CHECK(h.scaling.rbegin()->second.after >= 2);
}

TEST_CASE("scale: one that may be stopped is not taken back, by nobody") {
  Harness h({}, with_hooks());
  for (const char* id : {"w1", "w2"}) h.join(tellable(id));
  REQUIRE(h.set_quota(scaled(1, 5)));
  h.advance(2s);
  accept_all(h);
  h.advance(13s);
  accept_all(h);
  REQUIRE(h.drains.size() == 1);
  const std::string id = h.drains.begin()->first;
  say_drained(h, id);
  h.advance(2s);
  REQUIRE(h.hook_calls.back().stoppable.size() == 1);
  begin_work(h, 4);
  h.advance(15s);
  CHECK(h.drains.at(id).draining);
  CHECK(h.scaling.rbegin()->second.after > 1);
  CHECK(h.scaling.rbegin()->second.stoppable.size() == 1);
  for (const bool draining : {true, false}) {
    h.handle(DrainWorker{Token{99}, "ann", id, draining, 0s, "mine"});
    REQUIRE(std::holds_alternative<Error>(h.last.replies.at(0).body));
    CHECK(std::get<Error>(h.last.replies.at(0).body).message.find("may stop it at any moment") != std::string::npos);
  }
  // Gone: its drain ends once no call that names it is open, so that its name may be used again.
  accept_all(h);
  h.leave({id, "i1"});
  h.advance(30s);
  CHECK_FALSE(h.drains.at(id).draining);
}

TEST_CASE("scale: one that may be stopped and comes back in another life is resumed when it is needed") {
  Harness h({}, with_hooks());
  for (const char* id : {"w1", "w2"}) h.join(tellable(id));
  REQUIRE(h.set_quota(scaled(1, 5)));
  h.advance(2s);
  accept_all(h);
  h.advance(13s);
  accept_all(h);
  const std::string id = h.drains.begin()->first;
  say_drained(h, id);
  h.advance(2s);
  accept_all(h);
  begin_work(h, 4);
  h.leave({id, "i1"});
  h.join(tellable(id, 2, "i2"));
  h.advance(3s);
  CHECK_FALSE(h.drains.at(id).draining);
}

TEST_CASE("scale: the drain of an operator is left alone, and wins over one of the autoscaler") {
  Harness h({}, with_hooks());
  for (const char* id : {"w1", "w2"}) h.join(tellable(id));
  REQUIRE(h.set_quota(scaled(1, 5)));
  h.advance(15s);
  REQUIRE(h.drains.size() == 1);
  const std::string id = h.drains.begin()->first;
  h.handle(DrainWorker{Token{99}, "ann", id, true, 0s, "new disk"});
  CHECK(h.drains.at(id).principal == "ann");
  begin_work(h, 4);
  h.advance(15s);
  CHECK(h.drains.at(id).draining);
}

TEST_CASE("scale: nobody is drained in place of one that an operator has drained") {
  Harness h({}, with_hooks());
  for (const char* id : {"w1", "w2"}) h.join(tellable(id));
  REQUIRE(h.set_quota(scaled(1, 5)));
  h.handle(DrainWorker{Token{99}, "ann", "w2", true, 0s, "new disk"});
  h.advance(15s);
  CHECK(rows_of(h).back() == "2>1 load open");
  CHECK(h.drains.size() == 1);         // Ann's
  CHECK(h.scaling.rbegin()->second.present == 2);
  CHECK(model::workers_to_keep(h.scaling.rbegin()->second) == 2);
  for (const RunId run : begin_work(h, 1)) h.accept(run);
  h.advance(2s);
  CHECK(shown_scale(h).wanted == 1);
  h.handle(DrainWorker{Token{98}, "ann", "w2", false, 0s, "it is in"});
  h.advance(2s);
  REQUIRE(h.drains.size() == 1);
  CHECK(h.drains.at("w2").principal == "rota autoscale");
}

TEST_CASE("scale: a worker for which a run waits that may go to no other is not chosen") {
  Harness h({}, with_hooks());
  for (const char* id : {"w1", "w2"}) h.join(tellable(id));
  SetQuota event = scaled(1, 5);
  event.slots = 1;
  REQUIRE(h.set_quota(event));
  h.apply(a_job("first").on_worker("w1"));
  h.apply(a_job("second").on_worker("w2"));
  h.accept(h.run_now("first"));
  const RunId waits = h.run_now("second");
  h.advance(15s);
  CHECK(name_of(h.state(waits)) == name_of(RunState::Queued));
  CHECK(shown_scale(h).wanted == 1);
  CHECK(h.drains.contains("w1"));      // although it has more to do, which it finishes
  CHECK_FALSE(h.drains.contains("w2"));
}

TEST_CASE("scale: a worker that drains is not named, but taken back, when a run waits for it alone") {
  Harness h({}, with_hooks());
  for (const char* id : {"w1", "w2"}) h.join(tellable(id));
  REQUIRE(h.set_quota(scaled(1, 5)));
  h.advance(15s);
  REQUIRE(h.drains.size() == 1);
  const std::string id = h.drains.begin()->first;
  h.apply(a_job("mine").on_worker(id));
  const RunId waits = h.run_now("mine");
  say_drained(h, id);
  h.advance(2s);
  CHECK_FALSE(h.drains.at(id).draining);
  for (const auto& [number, row] : h.scaling) CHECK(row.stoppable.empty());
  say_drained(h, id, false);
  h.advance(2s);
  CHECK(name_of(h.state(waits)) == name_of(RunState::Dispatched));
}

TEST_CASE("scale: a pool without workers is scaled up by runs that wait") {
  Harness h({}, with_hooks());
  h.listed();
  REQUIRE(h.set_quota(scaled(0, 5)));
  h.advance(2s);
  answer(h);
  CHECK(shown_scale(h).wanted == 0);
  begin_work(h, 3);
  h.advance(2s);
  CHECK(rows_of(h).back() == "0>1 queue open");
}

TEST_CASE("scale: a dead worker is told; the number stays, and one less is there") {
  Harness h({}, with_hooks());
  const auto w1 = h.join(tellable("w1"));
  h.join(tellable("w2"));
  REQUIRE(h.set_quota(scaled(2, 5)));
  h.advance(2s);
  answer(h);
  h.leave(w1);
  h.advance(9min);
  CHECK(h.scaling.size() == 1);
  h.advance(2min);
  REQUIRE(h.scaling.size() == 2);
  CHECK(rows_of(h).back() == "2>2 worker_dead open");
  CHECK(h.scaling.rbegin()->second.present == 1);
}

TEST_CASE("scale: a new leader goes on with what is not delivered, and keeps number and names") {
  Harness h({}, with_hooks());
  for (const char* id : {"w1", "w2"}) h.join(tellable(id));
  REQUIRE(h.set_quota(scaled(1, 5)));
  h.advance(2s);
  accept_all(h);
  h.advance(13s);
  accept_all(h);
  const std::string id = h.drains.begin()->first;
  say_drained(h, id);
  h.advance(2s);
  const model::ScaleChange open = h.scaling.rbegin()->second;
  REQUIRE(open.stoppable.size() == 1);
  auto next = next_term_of(h);
  for (const char* each : {"w1", "w2"}) {
    model::WorkerInfo info = tellable(each);
    info.draining = each == id;
    info.drain_told = each == id;
    next->handle(WorkerSeen{info});
  }
  next->listed();
  for (const char* each : {"w1", "w2"}) next->inventory({each, "i1"});
  begin_work(*next, 4);                // it is not taken back, whatever waits
  next->advance(2s);
  CHECK(next->drains.at(id).draining);
  REQUIRE(next->hook_calls.size() == 1);
  CHECK(next->hook_calls[0].id == open.id);
  CHECK(next->hook_calls[0].stoppable == open.stoppable);
  CHECK(next->scaling.rbegin()->second.stoppable == open.stoppable);
}

TEST_CASE("scale: a new leader lets nobody go by the first figures that it sees") {
  CoreOptions options = with_hooks();
  options.scale_average = Millis{20'000};
  const Words workers = {"w1", "w2", "w3"};
  Harness h({}, options);
  for (const std::string& id : workers) h.join(tellable(id));
  REQUIRE(h.set_quota(scaled(1, 5)));
  const auto runs = begin_work(h, 4);
  for (const RunId run : runs) h.accept(run);
  h.advance(1min);
  CHECK(shown_scale(h).wanted == 3);
  for (const RunId run : runs) h.report(run, RunState::Succeeded);
  auto next = next_term_of(h, options);
  for (const std::string& id : workers) next->handle(WorkerSeen{tellable(id)});
  next->listed();
  for (const std::string& id : workers) next->inventory({id, "i1"});
  next->advance(2s);
  next->advance(17s);                  // longer than the cool-down
  CHECK(shown_scale(*next).wanted == 3);
  CHECK(name_of(shown_scale(*next).reason) == "cool_down");
  CHECK(next->drains.empty());
  next->advance(4s);
  CHECK(shown_scale(*next).wanted == 1);
}

TEST_CASE("scale: without its hook a pool keeps all that drain") {
  Harness h({}, with_hooks());
  for (const char* id : {"w1", "w2"}) h.join(tellable(id));
  REQUIRE(h.set_quota(scaled(1, 5)));
  h.advance(15s);
  REQUIRE(h.drains.size() == 1);
  SetQuota event;
  event.name = "default";
  event.hook = "";
  REQUIRE(h.set_quota(event));
  h.advance(2s);
  CHECK_FALSE(h.drains.begin()->second.draining);
  CHECK(name_of(h.scaling.rbegin()->second.state) == "no_hook");
}

TEST_CASE("scale: old settled rows are forgotten, the newest of each pool never") {
  Harness h({}, with_hooks());
  h.join(tellable("w1"));
  REQUIRE(h.set_quota(scaled(1, 5)));
  h.advance(2s);
  answer(h);
  std::optional<ForgetScaling> forget;
  for (int i = 0; i < 7300 && !forget; ++i) {
    h.now.wall += 1s;
    h.now.mono += 1s;
    h.tick();
    forget = h.last.changes.forget_scaling;
  }
  REQUIRE(forget);
  CHECK(h.now.wall - forget->before == h.options.keep_scaling);
}
