// Quotas of pools and namespaces, example by example. Whose turn it is within them is compared with a reference in
// turn_model_test.cpp.
#include <doctest/doctest.h>

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

SetQuota of_pool(const std::string& name, std::int64_t slots) {
  SetQuota event;
  event.name = name;
  event.slots = slots;
  return event;
}

SetQuota of_space(const std::string& name) {
  SetQuota event;
  event.of = QuotaOf::Space;
  event.name = name;
  return event;
}

JobBuilder open_job(const std::string& name) { return a_job(name).overlap(Overlap::Allow); }

std::vector<RunId> begin_runs(Harness& h, const std::string& job, int runs) {
  std::vector<RunId> ids;
  for (int i = 0; i < runs; ++i) ids.push_back(h.run_now(job));
  return ids;
}

int held_in(const Harness& h) {
  int count = 0;
  for (const auto& [id, run] : h.runs) {
    const RunState state = run.progress.state;
    count += state == RunState::Dispatched || state == RunState::Running ? 1 : 0;
  }
  return count;
}

Error error_of(Harness& h, const Event& event) {
  h.handle(event);
  const ReplyBody& body = h.last.replies.at(0).body;
  if (const auto* error = std::get_if<Error>(&body)) return *error;
  const auto* submitted = std::get_if<Submitted>(&body);
  REQUIRE(submitted != nullptr);
  return submitted->items.at(0).error.value_or(Error(ErrorCode::Internal, "no error"));
}

RunNow now_of(const std::string& job) { return {Token{5}, "tester", "default", job, {}, {}, nullptr}; }

std::unique_ptr<Harness> next_term(const Harness& before, const model::WorkerInfo& worker) {
  auto next = std::make_unique<Harness>(before.recovered(), CoreOptions{}, Epoch{before.epoch.value + 1});
  next->versions = before.versions;
  next->quotas = before.quotas;
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

TEST_CASE("quotas: no more runs of a pool are held than its limit says, and a run that waits says so") {
  Harness h;
  h.join(a_worker("w1", 10));
  h.apply(open_job("j"));
  REQUIRE(h.set_quota(of_pool("default", 3)));
  const auto runs = begin_runs(h, "j", 5);
  CHECK(held_in(h) == 3);
  CHECK(h.reason(runs[4]) == Reason::PoolLimit);
  CHECK(h.view(runs[4]).reason == Reason::PoolLimit);
  CHECK(h.view(runs[4]).detail == "limit 3 of pool default is reached, 3 running, 2 wait");
  h.report(runs[0], RunState::Succeeded);
  CHECK(held_in(h) == 3);
  CHECK(h.state(runs[3]) == RunState::Dispatched);
  REQUIRE(h.set_quota(of_pool("default", 1)));  // nothing is taken away
  CHECK(held_in(h) == 3);
  h.report(runs[1], RunState::Succeeded);
  h.report(runs[2], RunState::Succeeded);
  CHECK(held_in(h) == 1);
  REQUIRE(h.set_quota(of_pool("default", model::kNoLimit)));
  CHECK(held_in(h) == 2);
}

TEST_CASE("quotas: a limit of 0 closes a pool, and one that is as it was changes nothing") {
  Harness h;
  h.join(a_worker("w1", 2));
  h.apply(open_job("j"));
  REQUIRE(h.set_quota(of_pool("default", 0)));
  const RunId run = h.run_now("j");
  CHECK(h.reason(run) == Reason::PoolLimit);
  const auto again = h.set_quota(of_pool("default", 0));
  REQUIRE(again);
  CHECK(!again->changed);
  CHECK(again->version == 1);
  SetQuota stale = of_pool("default", 5);
  stale.expected_version = 0;
  CHECK(h.set_quota(stale).error().code == ErrorCode::Conflict);
  REQUIRE(h.set_quota(of_pool("default", 5)));
  CHECK(h.state(run) == RunState::Dispatched);
}

TEST_CASE("quotas: the slots of a namespace count over all pools, and its pools share them in turns") {
  Harness h;
  for (const char* pool : {"east", "west"}) {
    model::WorkerInfo worker = a_worker(std::string("w-") + pool, 4);
    worker.pool = pool;
    h.join(worker);
    h.apply(open_job(pool).pool(pool));
  }
  SetQuota event = of_space("default");
  event.slots = 1;
  REQUIRE(h.set_quota(event));
  const auto east = begin_runs(h, "east", 4);
  const auto west = begin_runs(h, "west", 4);
  CHECK(held_in(h) == 1);
  CHECK(h.reason(west[0]) == Reason::NamespaceSlots);
  CHECK(h.view(west[0]).detail == "max-slots 1 of namespace default is reached, 1 running, 7 wait");
  h.report(east[0], RunState::Succeeded);
  CHECK(h.state(west[0]) == RunState::Dispatched);
  h.report(west[0], RunState::Succeeded);
  CHECK(h.state(east[1]) == RunState::Dispatched);
  CHECK(held_in(h) == 1);
}

TEST_CASE("quotas: a namespace of twice the weight holds twice the slots") {
  Harness h;
  h.join(a_worker("w1", 12));
  SetQuota event = of_space("heavy");
  event.weight = 2;
  REQUIRE(h.set_quota(event));
  h.apply(open_job("j").space("heavy"));
  h.apply(open_job("j").space("light"));
  REQUIRE(h.set_quota(of_pool("default", 0)));
  for (int i = 0; i < 20; ++i) {
    h.handle(RunNow{Token{5}, "tester", "heavy", "j", {}, {}, nullptr});
    h.handle(RunNow{Token{5}, "tester", "light", "j", {}, {}, nullptr});
  }
  REQUIRE(h.set_quota(of_pool("default", model::kNoLimit)));
  int heavy = 0;
  for (const auto& [id, run] : h.runs) {
    heavy += run.space == "heavy" && run.progress.state == RunState::Dispatched ? 1 : 0;
  }
  CHECK(held_in(h) == 12);
  CHECK(heavy == 8);
}

TEST_CASE("quotas: a job beyond max-jobs is refused, an edit is not") {
  Harness h;
  SetQuota event = of_space("default");
  event.jobs = 1;
  REQUIRE(h.set_quota(event));
  h.apply(a_job("one"));
  ApplyJob second;
  second.token = Token{99};
  second.definition = a_job("two").build();
  second.zone = std::make_shared<const model::ZoneRules>();
  const Error error = error_of(h, second);
  CHECK(error.code == ErrorCode::LimitReached);
  CHECK(error.message == "max-jobs 1 of namespace \"default\" is reached: it has 1 jobs; delete one first, or raise it: "
                         "rota namespace set default --max-jobs N");
  h.apply(a_job("one").priority(7));
  h.remove("one");
  h.apply(a_job("two"));
}

TEST_CASE("quotas: runs beyond max-unfinished are refused, and ticks are skipped with that reason") {
  Harness h;
  h.join(a_worker("w1", 10));
  const JobId ticking = h.apply(open_job("ticking").every(1s));
  h.apply(open_job("j"));
  SetQuota event = of_space("default");
  event.unfinished = 2;
  REQUIRE(h.set_quota(event));
  const auto runs = begin_runs(h, "j", 2);
  const Error error = error_of(h, now_of("j"));
  CHECK(error.code == ErrorCode::LimitReached);
  CHECK(error.retry == Retry::Never);
  CHECK(error.message == "max-unfinished 2 of namespace \"default\" is reached: 2 runs are unfinished; try again when "
                         "some have ended, or raise it: rota namespace set default --max-unfinished N");
  SubmitRuns submit;
  submit.token = Token{6};
  submit.items.push_back({JobId{kOneOffBit + 9}, a_job("one").build(), {}, {}, nullptr});
  CHECK(error_of(h, submit).code == ErrorCode::LimitReached);
  h.advance(3s);
  const auto gaps = h.gaps_of(ticking);
  REQUIRE(!gaps.empty());
  CHECK(gaps[0].reason == Reason::NamespaceUnfinished);
  CHECK(h.runs_of(ticking).empty());
  h.report(runs[0], RunState::Succeeded);
  h.advance(1s);
  CHECK(h.runs_of(ticking).size() == 1);
}

TEST_CASE("quotas: what a key has asked for already is answered, whatever the limits say now") {
  Harness h;
  h.join(a_worker("w1", 10));
  h.apply(open_job("j"));
  const RunId run = h.run_now("j", "key", "hash");
  SetQuota event = of_space("default");
  event.unfinished = 0;
  REQUIRE(h.set_quota(event));
  CHECK(h.run_now("j", "key", "hash") == run);
}

TEST_CASE("quotas: no more ticks fire in a minute than the limit says; the next minute begins anew") {
  Harness h;
  h.join(a_worker("w1", 10));
  h.now.wall = wall_from_ms(1'700'000'040'000);  // a full minute
  const JobId id = h.apply(open_job("j").every(10s));
  SetQuota event = of_space("default");
  event.firings = 2;
  REQUIRE(h.set_quota(event));
  h.advance(59s);
  CHECK(h.runs_of(id).size() == 2);
  const Error error = error_of(h, now_of("j"));
  CHECK(error.code == ErrorCode::LimitReached);
  CHECK(error.message.find("max-firings-per-minute 2") == 0);
  std::int64_t skipped = 0;
  for (const auto& gap : h.gaps_of(id)) skipped += gap.reason == Reason::NamespaceFirings ? gap.count : 0;
  CHECK(skipped == 3);
  h.advance(21s);
  CHECK(h.runs_of(id).size() == 4);
}

TEST_CASE("quotas: a job that is due after an end is asked again, when its namespace had no room") {
  Harness h;
  h.join(a_worker("w1", 10));
  const JobId id = h.apply(a_job("j").entries({"after_end 5s; name again"}));
  h.advance(6s);
  REQUIRE(h.runs_of(id).size() == 1);
  SetQuota event = of_space("default");
  event.unfinished = 0;
  REQUIRE(h.set_quota(event));
  h.report(h.runs_of(id)[0], RunState::Succeeded);
  h.advance(12s);
  CHECK(h.runs_of(id).size() == 1);
  event.unfinished = 1;
  REQUIRE(h.set_quota(event));
  h.advance(6s);
  CHECK(h.runs_of(id).size() == 2);
}

TEST_CASE("quotas: a late run waits for a full pool, and does not stand before live ones") {
  Harness h;
  h.join(a_worker("w1", 2));
  const JobId late = h.apply(a_job("late").every(60s).grace(1s));
  h.apply(open_job("live"));
  REQUIRE(h.set_quota(of_pool("default", 1)));
  h.run_now("live");
  h.jump_wall(10min + 50s);
  h.tick();
  const auto runs = h.runs_of(late);
  REQUIRE(runs.size() == 1);
  CHECK(h.state(runs[0]) == RunState::Waiting);
  CHECK(h.view(runs[0]).reason == Reason::PoolLimit);
  REQUIRE(h.set_quota(of_pool("default", 2)));
  h.advance(2s);
  CHECK(h.state(runs[0]) == RunState::Dispatched);
}

TEST_CASE("quotas: a line that waits for tokens in a full pool stands in nobody's way") {
  Harness h;
  for (const char* pool : {"east", "west"}) {
    model::WorkerInfo worker = a_worker(std::string("w-") + pool, 4);
    worker.pool = pool;
    h.join(worker);
  }
  REQUIRE(h.set_semaphore("oracle", 2));
  h.apply(open_job("east").pool("east").uses({{"oracle", 1}}));
  h.apply(open_job("west").pool("west").uses({{"oracle", 1}}));
  const auto east = begin_runs(h, "east", 4);   // two tokens; a line stands
  const auto west = begin_runs(h, "west", 2);
  CHECK(held_in(h) == 2);
  REQUIRE(h.set_quota(of_pool("east", 1)));
  h.report(east[0], RunState::Succeeded);
  CHECK(h.state(east[2]) == RunState::Queued);  // before west's, but its pool is full
  CHECK(h.state(west[0]) == RunState::Dispatched);
}

TEST_CASE("quotas: a new leader knows limits, weights and who is held") {
  Harness h;
  h.join(a_worker("w1", 10));
  h.apply(open_job("j"));
  REQUIRE(h.set_quota(of_pool("default", 3)));
  SetQuota event = of_space("default");
  event.unfinished = 5;
  event.weight = 7;
  REQUIRE(h.set_quota(event));
  const auto runs = begin_runs(h, "j", 5);
  const auto next = next_term(h, a_worker("w1", 10));
  CHECK(held_in(*next) == 3);
  CHECK(next->view(runs[4]).reason == Reason::PoolLimit);
  CHECK(error_of(*next, now_of("j")).code == ErrorCode::LimitReached);
  CHECK(StateSurgery::state_of(*next->scheduler).slot_queues().spaces().at("default").weight == 7);
  next->report(runs[0], RunState::Succeeded);
  CHECK(held_in(*next) == 3);
}

TEST_CASE("quotas: nothing is counted of pools and namespaces that are idle and have no limits") {
  Harness h;
  h.join(a_worker("w1", 1));
  h.apply(open_job("j"));
  const auto runs = begin_runs(h, "j", 2);
  const QuotaTable& quotas = StateSurgery::state_of(*h.scheduler).quotas();
  CHECK(quotas.find(QuotaOf::Pool, "default")->held() == 1);
  CHECK(quotas.find(QuotaOf::Space, "default")->queued() == 1);
  h.report(runs[0], RunState::Succeeded);
  h.report(runs[1], RunState::Succeeded);
  CHECK(quotas.all(QuotaOf::Pool).empty());
  CHECK(quotas.all(QuotaOf::Space).empty());
}
