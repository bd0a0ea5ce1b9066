// A verification in parts: where each stops, where the next goes on, and that they find what one alone finds.
#include "master/verify/place.h"

#include <doctest/doctest.h>

#include "history.h"

namespace rota::master::verify::test {
namespace {

/// So many jobs like the one of the true history, each with its ticks 1 to 4, in one epoch.
History many_jobs(int jobs) {
  History out = a_true_history();
  const model::Job job = out.rows.jobs[0];
  const model::JobVersionRow version = out.rows.versions[0];
  out.rows = {};
  for (int j = 1; j <= jobs; ++j) {
    out.rows.jobs.push_back(job);
    out.rows.jobs.back().id = JobId{j};
    out.rows.jobs.back().name = "job" + std::to_string(j);
    out.rows.versions.push_back(version);
    out.rows.versions.back().job = JobId{j};
  }
  for (int s = 1; s <= 4; ++s) {
    for (int j = 1; j <= jobs; ++j) {
      out.rows.new_runs.push_back(a_run(run_id(1, s * 100'000 + j), at(s)));
      out.rows.new_runs.back().job = JobId{j};
    }
  }
  out.rows.watermark = at(4);
  return out;
}

/// Its clock runs out after so many questions about runs of ticks, or pages of runs.
class SlowStore final : public store::MemoryStore {
 public:
  Result<std::vector<model::Run>> tick_runs_of_jobs(const std::vector<JobId>& jobs, WallTime after,
                                                    WallTime through, std::int32_t limit) override {
    wait();
    return MemoryStore::tick_runs_of_jobs(jobs, after, through, limit);
  }
  Result<std::vector<model::Run>> runs_after(RunId after, std::int32_t limit) override {
    wait();
    return MemoryStore::runs_after(after, limit);
  }
  int questions_in_time = INT32_MAX;
  MonoTime deadline{};

 private:
  void wait() {
    if (--questions_in_time > 0) return;
    while (BootClock::now() <= deadline) {}
  }
};

struct InParts {
  explicit InParts(const History& history) {
    REQUIRE(memory.enter_office(Epoch{9}, "test"));
    const auto applied = memory.apply(Epoch{9}, history.rows);
    REQUIRE_MESSAGE(applied.outcome == store::ApplyOutcome::Applied, applied.detail);
  }
  Result<Report> part(const std::string& from, int questions, Request request = {}) {
    request.now = at(10'000);
    request.from = from;
    memory.questions_in_time = questions;
    memory.deadline = BootClock::now() + Millis{questions == INT32_MAX ? 60'000 : 400};
    const Sources sources{memory, &memory, [](std::string_view) {
                            return Result<std::shared_ptr<const model::ZoneRules>>(
                                std::make_shared<const model::ZoneRules>());
                          }};
    return verify(sources, request, memory.deadline);
  }
  SlowStore memory;
};

}  // namespace

TEST_CASE("verify place: is read back from its text; other texts are refused") {
  Place jobs;
  jobs.job = JobId{77};
  CHECK(*place_from(text_of(jobs)) == jobs);
  Place runs;
  runs.is_at_runs = true;
  runs.run = run_id(3, 9);
  runs.epochs = {Epoch{3}, at(1), at(2), at(3)};
  CHECK(*place_from(text_of(runs)) == runs);
  CHECK(*place_from("") == Place{});
  for (const char* wrong : {"jobs:", "jobs:x", "jobs:-1", "jobs:1:2", "runs:5", "runs:1:2:3:4:5:6", "runs:1:2:3:4:",
                            "x", "jobs:99999999999999999999"}) {
    CHECK_FALSE(place_from(wrong));
  }
}

TEST_CASE("verify: many jobs are asked about in a few questions, and each tick is found") {
  const History history = many_jobs(2300);
  Request request;
  request.now = at(10'000);
  const Report report = look(history, request);
  CHECK(report.ok);
  CHECK(check_of(report, "P1").fired == 9200);
  CHECK(report.jobs_looked_at == 2300);
  CHECK(report.jobs_in_all == 2300);
  CHECK(report.runs_looked_at == 9200);
}

TEST_CASE("verify: a check that does not end in time says how far it got, and continues there") {
  History history = many_jobs(1200);
  InParts parts(history);
  const auto whole = parts.part("", INT32_MAX);
  REQUIRE(whole);
  REQUIRE(whole->is_complete);
  std::string from;
  std::int64_t fired = 0, jobs = 0, runs = 0;
  int calls = 0;
  for (bool is_complete = false; !is_complete; ++calls) {
    REQUIRE(calls < 20);
    const auto part = parts.part(from, 2);
    REQUIRE_MESSAGE(part.has_value(), (part ? "" : part.error().message));
    CHECK(part->ok);
    fired += check_of(*part, "P1").fired;
    jobs += part->jobs_looked_at;
    runs += part->runs_looked_at;
    is_complete = part->is_complete;
    CHECK(part->next.empty() == is_complete);
    CHECK(part->next != from);
    from = part->next;
  }
  CHECK(calls > 3);
  CHECK(fired == 4800);
  CHECK(jobs == 1200);
  CHECK(runs == 4800);
}

TEST_CASE("verify: a part finds an overlap with a run that the part before has seen") {
  History history = many_jobs(1000);
  auto& runs = history.rows.new_runs;  // the first tick of each job is one page
  model::RunProgress& first = runs[5].progress;
  first.ended = first.outcome.ended = at(9);
  InParts parts(history);
  const std::string at_second_page = text_of(Place{true, JobId{}, runs[999].id, {Epoch{1}, {}, at(1), at(1)}});
  CHECK(red(*parts.part("", INT32_MAX)) == "P4");
  CHECK(red(*parts.part(at_second_page, INT32_MAX)) == "P4");
  Request job;
  job.job = "job6";
  CHECK(red(*parts.part("", INT32_MAX, job)) == "P4");
  CHECK(red(*parts.part(text_of(Place{true, JobId{}, runs[999].id, {Epoch{1}, {}, at(1), at(1)}}), INT32_MAX, job)) ==
        "P4");
  job.job = "job7";
  CHECK(red(*parts.part("", INT32_MAX, job)) == "");
}

TEST_CASE("verify: a part finds a run of an older epoch that was recorded after a newer one's") {
  History history = a_true_history();
  history.run_of(at(3)).recorded = at(18);
  history.run_of(at(3)).progress.started = history.run_of(at(3)).progress.outcome.started = at(18);
  history.run_of(at(3)).progress.dispatched = at(18);
  history.run_of(at(3)).progress.ended = history.run_of(at(3)).progress.outcome.ended = at(18) + Millis{1};
  CHECK(red(look(history)).find("P7") != std::string::npos);
  InParts parts(history);
  const auto rest = parts.part(text_of(Place{true, JobId{}, run_id(1, 8), {Epoch{1}, {}, at(1), at(18)}}), INT32_MAX);
  CHECK(red(*rest).find("P7") != std::string::npos);
}

TEST_CASE("verify: a job whose ticks alone take longer than the time is named") {
  InParts parts(many_jobs(3));
  const auto part = parts.part("", 1);
  REQUIRE_FALSE(part);
  CHECK(part.error().code == ErrorCode::TimedOut);
  CHECK(part.error().message.find("job1") != std::string::npos);
  CHECK(parts.part("jobs:x", INT32_MAX).error().code == ErrorCode::InvalidArgument);
}

}  // namespace rota::master::verify::test
