// Semaphores from the job to the attempt: who holds tokens, who waits for them, and what a takeover remembers.
#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "harness.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::Reason;
using model::RunState;

namespace {

JobBuilder taking(const std::string& job, std::map<std::string, std::int32_t> tokens) {
  return a_job().named(job).uses(std::move(tokens)).overlap(model::Overlap::Allow);
}

std::vector<RunId> begin(Harness& term, const std::string& job, int runs) {
  std::vector<RunId> ids;
  for (int i = 0; i < runs; ++i) ids.push_back(term.run_now(job));
  return ids;
}

int held(const Harness& term) {
  int count = 0;
  for (const auto& [id, run] : term.runs) {
    const RunState state = run.progress.state;
    count += state == RunState::Dispatched || state == RunState::Running ? 1 : 0;
  }
  return count;
}

Result<JobId> try_apply(Harness& term, const JobBuilder& job) {
  ApplyJob event;
  event.token = Token{999'999};
  event.principal = "tester";
  event.definition = job.build();
  event.zone = std::make_shared<const model::ZoneRules>();
  term.handle(event);
  const ReplyBody& body = term.last.replies.at(0).body;
  if (const auto* error = std::get_if<Error>(&body)) return fail(*error);
  return std::get<JobApplied>(body).job;
}

std::unique_ptr<Harness> take_over(const Harness& before, const model::WorkerInfo& worker) {
  auto next = std::make_unique<Harness>(before.recovered(), CoreOptions{}, Epoch{before.epoch.value + 1});
  next->versions = before.versions;
  next->semaphores = before.semaphores;
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

TEST_CASE("semaphores: no more runs of several jobs are under way than there are tokens") {
  Harness term;
  term.join(a_worker("w1", 100));
  REQUIRE(term.set_semaphore("oracle", 3));
  term.apply(taking("a", {{"oracle", 1}}));
  term.apply(taking("b", {{"oracle", 1}}));
  const auto of_a = begin(term, "a", 4);
  const auto of_b = begin(term, "b", 4);
  CHECK(held(term) == 3);
  CHECK(term.state(of_b[0]) == RunState::Queued);
  CHECK(term.reason(of_b[0]) == Reason::WaitsForSemaphore);
  const RunView why = term.view(of_b[0]);
  CHECK(why.reason == Reason::WaitsForSemaphore);
  CHECK(why.detail.find("semaphore oracle: 3 of 3 tokens are held by runs ") == 0);
  for (int ended = 0; ended < 8; ++ended) {
    for (const auto& [id, run] : term.runs) {
      if (run.progress.state != RunState::Dispatched) continue;
      term.report(id, RunState::Succeeded);
      break;
    }
    CHECK(held(term) == std::min(3, 7 - ended));
  }
  for (const RunId id : of_a) CHECK(term.state(id) == RunState::Succeeded);
  for (const RunId id : of_b) CHECK(term.state(id) == RunState::Succeeded);
}

TEST_CASE("semaphores: all tokens of a run at once, and those who need many get them") {
  Harness term;
  term.join(a_worker("w1", 100));
  REQUIRE(term.set_semaphore("oracle", 3));
  REQUIRE(term.set_semaphore("disk", 1));
  term.apply(taking("small", {{"oracle", 1}}));
  term.apply(taking("wide", {{"oracle", 3}, {"disk", 1}}));
  const auto small = begin(term, "small", 2);
  const RunId wide = term.run_now("wide");
  const RunId later = term.run_now("small");
  CHECK(term.state(wide) == RunState::Queued);
  CHECK(term.state(later) == RunState::Queued);  // one token is free, and kept for the wide one
  CHECK(term.view(later).detail.find("1 before it in line") != std::string::npos);
  term.report(small[0], RunState::Succeeded);
  CHECK(term.state(wide) == RunState::Queued);
  term.report(small[1], RunState::Succeeded);
  CHECK(term.state(wide) == RunState::Dispatched);
  CHECK(term.state(later) == RunState::Queued);
  term.report(wide, RunState::Succeeded);
  CHECK(term.state(later) == RunState::Dispatched);
}

TEST_CASE("semaphores: a line whose workers are full stands in nobody's way") {
  Harness term;
  model::WorkerInfo other = a_worker("w2", 1);
  other.pool = "other";
  term.join(a_worker("w1", 10));
  term.join(other);
  REQUIRE(term.set_semaphore("oracle", 2));
  term.apply(a_job().named("plain").pool("other"));
  term.apply(taking("wide", {{"oracle", 2}}).pool("other"));
  term.apply(taking("small", {{"oracle", 1}}));
  const RunId first = term.run_now("small");
  const RunId wide = term.run_now("wide");      // stands in line, its worker is free
  const RunId second = term.run_now("small");
  CHECK(term.state(second) == RunState::Queued);
  const RunId plain = term.run_now("plain");    // takes that worker's slot
  CHECK(term.state(plain) == RunState::Dispatched);
  const RunId third = term.run_now("small");    // asks, and the wide one must step back
  CHECK(held(term) == 3);
  CHECK((term.state(second) == RunState::Dispatched) != (term.state(third) == RunState::Dispatched));
  term.report(first, RunState::Succeeded);
  CHECK(term.state(wide) == RunState::Queued);
  for (const RunId id : {second, third}) term.report(id, RunState::Succeeded);
  term.report(plain, RunState::Succeeded);
  CHECK(term.state(wide) == RunState::Dispatched);
}

TEST_CASE("semaphores: a lower count revokes nothing, and 0 closes") {
  Harness term;
  term.join(a_worker("w1", 100));
  REQUIRE(term.set_semaphore("oracle", 2));
  term.apply(taking("a", {{"oracle", 1}}));
  const auto runs = begin(term, "a", 4);
  CHECK(held(term) == 2);
  REQUIRE(term.set_semaphore("oracle", 0));
  CHECK(held(term) == 2);
  CHECK(term.view(runs[2]).detail.find("semaphore oracle is closed") == 0);
  term.report(runs[0], RunState::Succeeded);
  term.report(runs[1], RunState::Succeeded);
  CHECK(held(term) == 0);
  REQUIRE(term.set_semaphore("oracle", 1));
  CHECK(held(term) == 1);
  const auto again = term.set_semaphore("oracle", 1);
  REQUIRE(again);
  CHECK_FALSE(again->changed);
}

TEST_CASE("semaphores: a delay before another attempt gives the token back") {
  Harness term;
  term.join(a_worker("w1", 100));
  REQUIRE(term.set_semaphore("oracle", 1));
  term.apply(taking("a", {{"oracle", 1}}).retries(1, 10s));
  term.apply(taking("b", {{"oracle", 1}}));
  const RunId failing = term.run_now("a");
  const RunId waiting = term.run_now("b");
  term.report(failing, RunState::Failed);
  CHECK(term.state(failing) == RunState::Waiting);
  CHECK(term.state(waiting) == RunState::Dispatched);
  term.advance(11s);
  CHECK(term.reason(failing) == Reason::WaitsForSemaphore);
  term.report(waiting, RunState::Succeeded);
  CHECK(term.state(failing) == RunState::Dispatched);
}

TEST_CASE("semaphores: an attempt whose worker is away keeps its token until the fence") {
  Harness term;
  const auto away = term.join(a_worker("w1", 1));
  REQUIRE(term.set_semaphore("oracle", 1));
  term.apply(taking("a", {{"oracle", 1}}).never_again());
  const RunId lost = term.run_now("a");
  term.accept(lost);
  term.join(a_worker("w2", 1));
  const RunId waiting = term.run_now("a");
  term.end_session(away);
  CHECK(term.state(waiting) == RunState::Queued);
  CHECK(term.reason(waiting) == Reason::WaitsForSemaphore);
  term.advance(60s);
  CHECK(term.state(lost) == RunState::Lost);
  CHECK(term.state(waiting) == RunState::Dispatched);
}

TEST_CASE("semaphores: a new leader knows counts, holders and who must wait") {
  const model::WorkerInfo worker = a_worker("w1", 100);
  auto term = std::make_unique<Harness>();
  term->join(worker);
  REQUIRE(term->set_semaphore("oracle", 5));
  REQUIRE(term->set_semaphore("oracle", 2));
  term->apply(taking("a", {{"oracle", 1}}));
  const auto runs = begin(*term, "a", 5);
  for (int i = 0; i < 3; ++i) {
    CHECK(held(*term) == std::min<int>(2, 5 - i));
    term = take_over(*term, worker);
    CHECK(held(*term) == 2);
    for (const auto& [id, run] : term->runs) {
      const RunState state = run.progress.state;
      if (state != RunState::Dispatched && state != RunState::Running) continue;
      term->report(id, RunState::Succeeded);
      break;
    }
  }
  const auto stale = term->set_semaphore("oracle", 7, 1);
  REQUIRE_FALSE(stale);
  CHECK(stale.error().message.find("has version 2, the change was made from version 1") != std::string::npos);
}

TEST_CASE("semaphores: what no run could ever have is refused, and what is used is not deleted") {
  Harness term;
  const auto unknown = try_apply(term, taking("a", {{"oracle", 1}}));
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message ==
        "uses: there is no semaphore \"oracle\" in namespace \"default\"; make it first: rota semaphore set oracle COUNT");
  REQUIRE(term.set_semaphore("oracle", 2));
  const auto larger = try_apply(term, taking("a", {{"oracle", 3}}));
  REQUIRE_FALSE(larger);
  CHECK(larger.error().message ==
        "uses: 3 tokens of semaphore \"oracle\" are more than it has (2); no run could ever start");
  REQUIRE(try_apply(term, taking("a", {{"oracle", 2}})));
  const auto used = term.delete_semaphore("oracle");
  REQUIRE_FALSE(used);
  CHECK(used.error().message == "semaphore 'default/oracle' is used by 1 job: a; take it out of their uses first");
  const RunId run = term.run_now("a");
  REQUIRE(try_apply(term, a_job().named("a")));
  const auto waited = term.delete_semaphore("oracle");  // no worker is there, so nothing stands in line
  REQUIRE(waited);
  term.join(a_worker("w1", 1));
  CHECK(term.view(run).detail.find("semaphore oracle was deleted") == 0);
  REQUIRE(term.set_semaphore("oracle", 2));
  CHECK(term.semaphores.back().version == 3);
  CHECK(term.state(run) == RunState::Dispatched);
  CHECK_FALSE(term.delete_semaphore("oracle"));
  CHECK_FALSE(term.delete_semaphore("nothing"));
}
