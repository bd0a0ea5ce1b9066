// loss: confirm. No other attempt before the worker's own word, or the operator's that it is dead.
#include <doctest/doctest.h>

#include <algorithm>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::HeldAttempt;
using model::Reason;
using model::RunState;

namespace {

/// A run of a job that asks for a confirmation, on w1, with w2 standing by.
struct Asking {
  Harness h;
  model::WorkerKey w1;
  RunId run;

  explicit Asking(const JobBuilder& job = a_job().confirmed()) {
    w1 = h.join(a_worker("w1", 1, "aaaa-1"));
    h.apply(job);
    run = h.run_now("j");
    h.accept(run);
    h.join(a_worker("w2", 1, "bbbb-1"));
    h.advance(10s);
    h.pop_dispatches();
  }
  void lose_host() {
    h.leave(w1);
    h.advance(60s);
  }
  DeathTaken confirm(bool only_tell = false, const std::string& worker = "w1") {
    const auto* taken = std::get_if<DeathTaken>(&reply(only_tell, worker));
    REQUIRE(taken != nullptr);
    return *taken;
  }
  ErrorCode refused(const std::string& worker = "w1") {
    const auto* error = std::get_if<Error>(&reply(false, worker));
    REQUIRE(error != nullptr);
    return error->code;
  }
  /// The next leader, with what is stored, and the workers that are here.
  void change_leader(bool with_w2 = true) {
    const Now now = h.now;
    h = Harness(h.recovered(), {}, Epoch{h.epoch.value + 1});
    h.now = now;
    h.listed();
    if (with_w2) h.join(a_worker("w2", 1, "bbbb-1"));
    h.advance(60s);
  }

 private:
  const ReplyBody& reply(bool only_tell, const std::string& worker) {
    h.handle(ConfirmDead{Token{77}, "me", worker, "its host burnt", only_tell});
    REQUIRE(h.last.replies.size() == 1);
    return h.last.replies[0].body;
  }
};

}  // namespace

TEST_CASE("confirm: nothing follows by absence alone, and the run says what is awaited") {
  Asking a;
  a.lose_host();
  a.h.advance(1h);
  CHECK(a.h.pop_dispatches().empty());
  CHECK(a.h.attempts.empty());
  CHECK(a.h.view(a.run).reason == Reason::WaitsForConfirmation);
  CHECK(a.h.reason(a.run) == Reason::WaitsForConfirmation);
  CHECK(a.h.run(a.run).progress.detail == "rota worker confirm-dead w1");
}

TEST_CASE("confirm: the operator's word is stored with the batch that acts on it, and lets the next one begin") {
  Asking a;
  a.lose_host();
  const DeathTaken taken = a.confirm();
  CHECK(taken.changed);
  CHECK(std::ranges::count(a.h.notices, "worker confirmed to be dead", &Notice::sentence) == 1);
  REQUIRE(taken.runs.size() == 1);
  CHECK(taken.runs[0].run == a.run);
  CHECK(taken.runs[0].job == "j");
  CHECK(taken.runs[0].asks);
  CHECK(taken.runs[0].begins_again);
  CHECK(taken.runs[0].after == 0ms);
  REQUIRE(a.h.deaths.contains(a.w1));
  CHECK(a.h.deaths.at(a.w1).principal == "me");
  CHECK(a.h.deaths.at(a.w1).why == "its host burnt");
  a.h.advance(1s);
  CHECK(a.h.pop_dispatches().size() == 1);
  CHECK(a.h.attempt(a.run).attempt == 2);
  CHECK(a.h.attempts.at(0).outcome.reason == Reason::WorkerLost);
  CHECK(a.h.run(a.run).progress.detail.empty());
}

TEST_CASE("confirm: it lets no fence pass sooner") {
  Asking a;
  CHECK(a.h.renew(a.w1));
  a.h.leave(a.w1);
  const DeathTaken taken = a.confirm();
  CHECK(taken.runs.at(0).after == 5300ms);
  a.h.advance(5200ms);
  CHECK(a.h.pop_dispatches().empty());
  a.h.advance(200ms);
  CHECK(a.h.pop_dispatches().size() == 1);
}

TEST_CASE("confirm: asked only what would follow, nothing is changed") {
  Asking a;
  a.lose_host();
  CHECK(a.confirm(true).changed);
  CHECK(a.h.notices.back().sentence != "worker confirmed to be dead");
  a.h.advance(1h);
  CHECK(a.h.deaths.empty());
  CHECK(a.h.pop_dispatches().empty());
}

TEST_CASE("confirm: a worker that is registered says itself what it holds") {
  Asking a;
  CHECK(a.refused() == ErrorCode::Conflict);
  CHECK(!a.confirm(false, "nobody").changed);
  a.lose_host();
  a.h.join(a_worker("w1", 1, "aaaa-2"));
  CHECK(a.refused() == ErrorCode::Conflict);
}

TEST_CASE("confirm: on another host its id is let in once the first home is confirmed dead") {
  Asking a;
  a.h.leave(a.w1);
  a.h.handle(WorkerSeen{a_worker("w1", 1, "cccc-1")});
  a.h.advance(60s);
  CHECK(a.h.pop_hellos().empty());
  CHECK(a.h.view(a.run).reason == Reason::WaitsForConfirmation);
  CHECK(a.confirm().changed);
  a.h.advance(1s);
  CHECK(a.h.attempt(a.run).attempt == 2);
  a.h.advance(10s);
  CHECK(a.h.pop_hellos().size() == 1);
}

TEST_CASE("confirm: the worker's own word needs no operator") {
  Asking a;
  a.lose_host();
  const auto back = a_worker("w1", 1, "aaaa-2");
  a.h.handle(WorkerSeen{back});
  SUBCASE("it holds nothing any more") {
    a.h.inventory(back.key);
    a.h.advance(1s);
    CHECK(a.h.attempt(a.run).attempt == 2);
    CHECK(a.h.attempts.at(0).outcome.reason == Reason::AttemptDied);
  }
  SUBCASE("it lives on") {
    a.h.inventory(back.key, {{{a.run, 1}, HeldAttempt::State::Running, {}, {}}});
    a.h.advance(1s);
    CHECK(a.h.attempt(a.run).attempt == 1);
    CHECK(a.h.run(a.run).progress.detail.empty());
    CHECK(a.h.state(a.run) == RunState::Running);
  }
}

TEST_CASE("confirm: the word holds over a change of leaders, and so does the waiting") {
  Asking a;
  SUBCASE("confirmed before") {
    CHECK(a.h.renew(a.w1));
    a.h.leave(a.w1);
    a.confirm();
    CHECK(a.h.pop_dispatches().empty());
    a.change_leader();
    CHECK(a.h.attempt(a.run).attempt == 2);
  }
  SUBCASE("not yet") {
    a.lose_host();
    a.change_leader();
    a.h.advance(1h);
    CHECK(a.h.attempt(a.run).attempt == 1);
    CHECK(a.h.view(a.run).reason == Reason::WaitsForConfirmation);
    a.confirm();
    a.h.advance(1s);
    CHECK(a.h.attempt(a.run).attempt == 2);
  }
}

TEST_CASE("confirm: a worker that is back before its fence has passed is not dead, whoever said so") {
  Asking a;
  CHECK(a.h.renew(a.w1));
  a.h.leave(a.w1);
  a.confirm();
  const auto back = a_worker("w1", 1, "aaaa-1");  // the same life, whose node had only gone
  a.h.handle(WorkerSeen{back});
  a.h.inventory(back.key, {{{a.run, 1}, HeldAttempt::State::Running, {}, {}}});
  CHECK(a.h.deaths.at(a.w1).came_back);
  CHECK(a.h.deaths.at(a.w1).principal == "me");
  a.h.leave(back.key);
  a.h.advance(1h);
  CHECK(a.h.attempt(a.run).attempt == 1);
  CHECK(a.h.view(a.run).reason == Reason::WaitsForConfirmation);
  a.change_leader();
  CHECK(a.h.attempt(a.run).attempt == 1);
}

TEST_CASE("confirm: one that comes back after all changes nothing that has begun since") {
  Asking a;
  a.lose_host();
  a.confirm();
  a.h.advance(1s);
  REQUIRE(a.h.attempt(a.run).attempt == 2);
  a.h.accept(a.run);
  const auto back = a_worker("w1", 1, "aaaa-2");
  a.h.handle(WorkerSeen{back});
  SUBCASE("with its end, which is kept as late") {
    HeldAttempt held{{a.run, 1}, HeldAttempt::State::Finished, {}, ended_as(RunState::Succeeded)};
    a.h.inventory(back.key, {held});
    REQUIRE(a.h.attempts.size() == 2);
    CHECK(a.h.attempts[1].late);
  }
  SUBCASE("alive, and it is ended") {
    a.h.pop_cancels();
    a.h.inventory(back.key, {{{a.run, 1}, HeldAttempt::State::Running, {}, {}}});
    const auto cancels = a.h.pop_cancels();
    REQUIRE(cancels.size() == 1);
    CHECK(cancels[0].attempts.at(0) == model::AttemptKey{a.run, 1});
  }
  CHECK(a.h.attempt(a.run).attempt == 2);
  CHECK(!model::is_final(a.h.state(a.run)));
}

TEST_CASE("confirm: a loss that was confirmed counts, and the last one ends the run") {
  Asking a(a_job().confirmed().losses(1));
  a.lose_host();
  CHECK(!a.confirm(true).runs.at(0).begins_again);
  a.confirm();
  a.h.advance(1s);
  CHECK(a.h.reason(a.run) == Reason::LossLimit);
}

TEST_CASE("confirm: a cancel ends what waits, since nothing follows it") {
  Asking a;
  a.lose_host();
  a.h.cancel(a.run);
  a.h.advance(1s);
  CHECK(a.h.state(a.run) == RunState::Lost);
  CHECK(a.h.pop_dispatches().empty());
}

TEST_CASE("confirm: jobs that do not ask are told of, and go on by themselves") {
  Asking a(a_job());
  CHECK(a.h.renew(a.w1));
  a.h.leave(a.w1);
  const DeathTaken taken = a.confirm();
  CHECK(!taken.changed);
  REQUIRE(taken.runs.size() == 1);
  CHECK(!taken.runs[0].asks);
  CHECK(a.h.deaths.empty());
}
