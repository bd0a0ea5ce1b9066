// What follows when attempts are lost with their workers: another one, but not forever.
#include <doctest/doctest.h>

#include "harness.h"
#include "master/core/attempts/loss_rules.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::HeldAttempt;
using model::Reason;
using model::RunState;

namespace {

/// A job that takes each worker down on which it runs, and workers with one slot each.
struct HostKiller {
  Harness h;
  RunId run;

  explicit HostKiller(const JobBuilder& job) {
    h.advance(10s);  // past the grants that an older Term may have given
    for (const char* id : {"w1", "w2", "w3", "w4", "w5"}) h.join(a_worker(id, 1));
    h.apply(job);
    run = h.run_now("j");
  }
  model::WorkerKey worker() const { return h.run(run).progress.worker; }
  /// Its present worker goes away for good, and the fence passes.
  void kill_host() {
    h.accept(run);
    h.leave(worker());
    h.advance(30s);
  }
  /// Its worker is back at once, and holds nothing any more.
  void kill_worker() {
    h.accept(run);
    const model::WorkerKey old = worker();
    h.leave(old);
    h.inventory(h.join(a_worker(old.id, 1, old.incarnation + "x")));
    h.advance(1ms);
  }
};

}  // namespace

TEST_CASE("losses: after the third the run ends as lost, on the third host and not on all") {
  HostKiller k(a_job());
  k.kill_host();
  CHECK(k.h.attempt(k.run).attempt == 2);
  CHECK(k.h.run(k.run).progress.losses == 1);
  k.kill_host();
  CHECK(k.h.attempt(k.run).attempt == 3);
  k.kill_host();
  CHECK(k.h.state(k.run) == RunState::Lost);
  CHECK(k.h.reason(k.run) == Reason::LossLimit);
  CHECK(k.h.run(k.run).progress.outcome.reason == Reason::WorkerLost);
  CHECK(k.h.run(k.run).progress.losses == 3);
  CHECK(k.h.run(k.run).progress.detail == "attempt 3 was lost with worker w3 (loss 3 of at most 3)");
  CHECK(k.h.pop_dispatches().size() == 3);
}

TEST_CASE("losses: an attempt that is proven dead counts as one") {
  HostKiller k(a_job().losses(2));
  k.kill_worker();
  CHECK(k.h.attempt(k.run).attempt == 2);
  k.kill_worker();
  CHECK(k.h.state(k.run) == RunState::Lost);
  CHECK(k.h.reason(k.run) == Reason::LossLimit);
}

TEST_CASE("losses: one allowed loss is none that another attempt follows") {
  HostKiller k(a_job().losses(1));
  k.kill_host();
  CHECK(k.h.reason(k.run) == Reason::LossLimit);
  CHECK(k.h.pop_dispatches().size() == 1);
}

TEST_CASE("losses: a leader that follows goes on counting") {
  HostKiller k(a_job());
  k.kill_host();
  k.kill_host();
  Harness next(k.h.recovered(), {}, Epoch{8});
  next.now = k.h.now;
  next.advance(60s);
  next.join(a_worker("w3", 1));
  next.join(a_worker("w4", 1));
  next.accept(k.run);
  next.leave(next.run(k.run).progress.worker);
  next.advance(60s);
  CHECK(next.state(k.run) == RunState::Lost);
  CHECK(next.reason(k.run) == Reason::LossLimit);
}

TEST_CASE("losses: failures between them do not make them forgotten") {
  HostKiller k(a_job().losses(2).retries(5));
  k.kill_host();
  k.h.accept(k.run);
  k.h.report(k.run, RunState::Failed);
  k.h.advance(2s);
  CHECK(k.h.attempt(k.run).attempt == 3);
  k.kill_host();
  CHECK(k.h.reason(k.run) == Reason::LossLimit);
}

TEST_CASE("losses: hand-overs do not count, however many there are") {
  Harness h;
  auto w1 = a_worker("w1", 1), w2 = a_worker("w2", 1);
  w1.drain_told = w2.drain_told = false;
  h.join(w1);
  h.join(w2);
  h.apply(a_job().losses(1));
  const RunId run = h.run_now("j");
  for (int i = 0; i < 6; ++i) {
    h.accept(run);
    const std::string at = h.run(run).progress.worker.id;
    h.handle(DrainWorker{{}, "me", at, true, 1s, ""});
    h.advance(2s);
    h.report(run, RunState::Killed);
    h.handle(DrainWorker{{}, "me", at, false, 0s, ""});
    h.advance(2s);
    CHECK(h.run(run).progress.losses == 0);
  }
  CHECK(h.attempt(run).attempt == 7);
  CHECK(!model::is_final(h.state(run)));
}

TEST_CASE("losses: a cancelled run ends as cancelled, whatever its losses") {
  HostKiller k(a_job().losses(1));
  k.h.accept(k.run);
  k.h.cancel(k.run);
  k.h.leave(k.worker());
  k.h.advance(30s);
  CHECK(k.h.state(k.run) == RunState::Lost);
  CHECK(k.h.reason(k.run) == Reason::WorkerLost);
}

TEST_CASE("losses: the late result of the last one is kept") {
  HostKiller k(a_job().losses(1));
  k.kill_host();
  k.h.report({k.run, 1}, k.worker(), RunState::Succeeded);
  CHECK(k.h.state(k.run) == RunState::Lost);
  REQUIRE(k.h.attempts.size() == 1);
  CHECK(k.h.attempts[0].late);
}
