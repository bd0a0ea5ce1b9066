#include "master/upkeep/run_retention.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "master/store/logs/log_rules.h"
#include "master/store/memory/memory_store.h"

using namespace rota;
using namespace rota::master;
using std::chrono::hours;

namespace {

const Millis kOneDay = hours{24};
using RunIds = std::vector<std::int64_t>;

struct PastSetting {
  PastSetting() { REQUIRE(memory.enter_office(Epoch{1}, "test")); }

  void apply(const core::Changes& changes) {
    const auto done = memory.apply(Epoch{1}, changes);
    REQUIRE_MESSAGE(done.outcome == store::ApplyOutcome::Applied, done.detail);
  }
  void add_job(std::int64_t id, Millis keep, bool one_off = false) {
    model::JobDefinition definition;
    definition.name = "job" + std::to_string(id);
    definition.rules.keep_runs = keep;
    core::Changes changes;
    changes.jobs.emplace_back();
    changes.jobs[0].id = JobId{id};
    changes.jobs[0].name = definition.name;
    changes.jobs[0].version = 1;
    changes.jobs[0].one_off = one_off;
    changes.versions.emplace_back();
    changes.versions[0].job = JobId{id};
    changes.versions[0].version = 1;
    changes.versions[0].definition = std::make_shared<const model::JobDefinition>(definition);
    apply(changes);
  }
  void add_run(std::int64_t id, std::int64_t job, bool is_final = true) {
    core::Changes changes;
    model::Run run;
    run.id = RunId{id};
    run.job = JobId{job};
    run.recorded = run.scheduled = clock.wall();
    run.tick = clock.wall() + Millis{id};
    run.progress.attempt = 1;
    run.progress.state = is_final ? model::RunState::Succeeded : model::RunState::Running;
    if (is_final) run.progress.ended = clock.wall() + ended_after;
    changes.new_runs.push_back(run);
    changes.attempts.emplace_back();
    changes.attempts[0].run = run.id;
    changes.attempts[0].attempt = 1;
    apply(changes);
    store::LogChunk chunk;
    chunk.attempt = {run.id, 1};
    chunk.bytes = "abc";
    chunk.crc32 = store::crc_of(chunk.bytes);
    REQUIRE(memory.append({chunk}));
  }
  void add_gap(std::int64_t job) {
    core::Changes changes;
    changes.gaps.push_back({JobId{job}, 1, clock.wall(), clock.wall() + Millis{5}, 3,
                            model::Reason::OverlapSkipped, 0, Epoch{1}});
    apply(changes);
  }
  RunIds left() {
    RunIds out;
    const auto runs = memory.past_runs(RunId{}, 10'000);
    REQUIRE(runs);
    for (const auto& run : *runs) out.push_back(run.run.value);
    return out;
  }
  std::size_t outputs() { return memory.runs_with_logs(RunId{}, 10'000)->size(); }
  std::size_t gaps(std::int64_t job) { return memory.gaps_of(JobId{job})->size(); }
  int pass() {
    for (int rounds = 1; rounds <= 1000; ++rounds) {
      const auto done = retention.round();
      REQUIRE(done);
      if (done->pass_over) return rounds;
    }
    FAIL("a pass that does not end");
    return 0;
  }

  FakeClock clock;
  store::MemoryStore memory;
  Millis ended_after{0};
  RunRetentionOptions options{.keep_runs = kOneDay, .rows_per_round = 4, .chunks_per_delete = 3,
                              .deletes_per_round = 1};
  RunRetention retention{{memory, memory, memory}, clock, [] { return false; }, options};
};

}  // namespace

TEST_CASE("run retention: a run goes with all that is its, by its job's word or the default") {
  PastSetting it;
  it.add_job(1, Millis{0});
  it.add_job(2, 3 * kOneDay);
  it.add_job(3, model::kKeepForEver);
  it.add_run(11, 1);
  it.add_run(12, 2);
  it.add_run(13, 3);
  it.add_run(14, 1, false);
  it.add_gap(1);
  it.add_gap(2);
  it.clock.advance(kOneDay - Millis{1});
  it.pass();
  CHECK(it.left() == RunIds{11, 12, 13, 14});
  CHECK(it.gaps(1) == 1);
  it.clock.advance(Millis{6});
  it.pass();
  CHECK(it.left() == RunIds{12, 13, 14});
  CHECK(it.outputs() == 3);
  CHECK(it.memory.attempts_of(RunId{11})->empty());
  CHECK(it.memory.pruned_among({RunId{11}})->empty());
  CHECK(it.gaps(1) == 0);
  CHECK(it.gaps(2) == 1);
  it.clock.advance(1000 * kOneDay);
  it.pass();
  CHECK(it.left() == RunIds{13, 14});  // forever, and still running
}

TEST_CASE("run retention: up to which tick rows may be gone is told, and never goes back") {
  PastSetting it;
  it.add_job(1, Millis{0});
  it.add_job(2, Millis{0});
  it.add_run(12, 1);
  it.add_run(11, 1);
  const WallTime begin = it.clock.wall();
  CHECK_FALSE(*it.memory.gone_through(JobId{1}));
  it.clock.advance(kOneDay);
  it.pass();
  CHECK(*it.memory.gone_through(JobId{1}) == begin + Millis{12});
  CHECK_FALSE(*it.memory.gone_through(JobId{2}));
  REQUIRE(it.memory.forget_through({{JobId{1}, begin}}));
  CHECK(*it.memory.gone_through(JobId{1}) == begin + Millis{12});
}

TEST_CASE("run retention: a one-off's job goes with its last run, a saved job never") {
  PastSetting it;
  it.add_job(1, Millis{0});
  it.add_job(2, Millis{0}, true);
  it.add_run(11, 1);
  it.add_run(12, 2);
  it.add_run(13, 2, false);
  it.clock.advance(kOneDay);
  it.pass();
  CHECK(it.left() == RunIds{13});
  CHECK(it.memory.versions_of(JobId{2})->size() == 1);
  core::Changes end;
  end.updated_runs.emplace_back();
  end.updated_runs[0].id = RunId{13};
  end.updated_runs[0].progress.state = model::RunState::Succeeded;
  end.updated_runs[0].progress.ended = it.clock.wall();
  it.apply(end);
  it.clock.advance(kOneDay);
  it.pass();
  CHECK(it.left().empty());
  CHECK(it.memory.versions_of(JobId{2})->empty());
  CHECK(it.memory.versions_of(JobId{1})->size() == 1);
}

TEST_CASE("run retention: a worker whose clock is years behind loses no run") {
  PastSetting it;
  it.add_job(1, Millis{0});
  it.ended_after = -9999 * kOneDay;
  it.add_run(11, 1);
  it.pass();
  CHECK(it.left() == RunIds{11});
}

TEST_CASE("run retention: young runs are passed over unread, and nothing is read where all is kept forever") {
  PastSetting it;
  it.add_job(1, Millis{0});
  for (std::int64_t id = 1; id <= 40; ++id) it.add_run(id, 1);
  CHECK(it.pass() == 1);
  it.clock.advance(kOneDay);
  for (std::int64_t id = 41; id <= 80; ++id) it.add_run(id, 1);
  CHECK(it.pass() < 25);  // ten pages of four, two deletions of three chunks each, and one page of young ones
  CHECK(it.left().size() == 40);
  RunRetentionOptions forever = it.options;
  forever.keep_runs = Millis{0};
  RunRetention none({it.memory, it.memory, it.memory}, it.clock, [] { return false; }, forever);
  it.clock.advance(1000 * kOneDay);
  CHECK(none.round()->pass_over);
  CHECK(it.left().size() == 40);
}

TEST_CASE("run retention: pauses for a quarter of what a round took, so that it keeps up and leaves room") {
  CHECK(pause_behind(Millis{0}, Millis{2}) == Millis{2});
  CHECK(pause_behind(Millis{80}, Millis{2}) == Millis{20});
}

TEST_CASE("run retention: a page of runs goes in several transactions, and an error between them loses none") {
  struct Counting : store::MemoryStore {
    Result<void> erase_runs(const std::vector<store::PastRun>& runs) override {
      sizes.push_back(runs.size());
      if (sizes.size() == 2) return fail(ErrorCode::Unavailable, "once");
      return MemoryStore::erase_runs(runs);
    }
    std::vector<std::size_t> sizes;
  };
  Counting memory;
  REQUIRE(memory.enter_office(Epoch{1}, "test"));
  FakeClock clock;
  core::Changes changes;
  for (std::int64_t id = 1; id <= 7; ++id) {
    model::Run run;
    run.id = RunId{id};
    run.recorded = run.scheduled = clock.wall();
    run.progress.state = model::RunState::Succeeded;
    run.progress.ended = clock.wall();
    changes.new_runs.push_back(run);
  }
  REQUIRE(memory.apply(Epoch{1}, changes).outcome == store::ApplyOutcome::Applied);
  clock.advance(kOneDay);
  RunRetention retention({memory, memory, memory}, clock, [] { return false; },
                         {.keep_runs = kOneDay, .runs_per_delete = 3});
  CHECK_FALSE(retention.round());
  REQUIRE(retention.round());
  CHECK(memory.sizes == std::vector<std::size_t>{3, 3, 3, 1});
  CHECK(memory.past_runs(RunId{}, 10)->empty());
}

TEST_CASE("run retention: deleted output is noted of runs that have any, and of no others") {
  PastSetting it;
  it.add_job(1, Millis{0});
  for (std::int64_t id = 1; id <= 3; ++id) it.add_run(id, 1);
  REQUIRE(it.memory.erase({RunId{2}}, 10));
  it.clock.advance(kOneDay);
  RunRetentionOptions slow = it.options;
  slow.chunks_per_delete = 1;
  RunRetention retention({it.memory, it.memory, it.memory}, it.clock, [] { return false; }, slow);
  REQUIRE(retention.round()->is_deleting);
  const auto noted = it.memory.pruned_among({RunId{1}, RunId{2}, RunId{3}});
  CHECK(noted->size() == 2);
  CHECK_FALSE(noted->contains(RunId{2}));
}

TEST_CASE("run retention: a job that keeps its runs shorter than the others is not passed over") {
  PastSetting it;
  it.add_job(1, Millis{0});
  it.add_job(2, hours{1});
  for (std::int64_t id = 1; id <= 8; ++id) it.add_run(id, 1);
  it.add_run(9, 2);
  it.clock.advance(hours{1});
  it.pass();
  CHECK(it.left().size() == 8);
}

TEST_CASE("run retention: what an error interrupts is taken up again") {
  PastSetting it;
  it.add_job(1, Millis{0});
  for (std::int64_t id = 1; id <= 6; ++id) it.add_run(id, 1);
  it.clock.advance(kOneDay);
  REQUIRE(it.retention.round());
  it.memory.set_down(true);
  CHECK_FALSE(it.retention.round());
  it.memory.set_down(false);
  it.pass();
  CHECK(it.left().empty());
  CHECK(it.outputs() == 0);
}

TEST_CASE("run retention: deletes nothing by its age while the clock is not to be trusted") {
  PastSetting it;
  it.add_job(1, Millis{0});
  it.add_run(11, 1);
  it.clock.advance(2 * kOneDay);
  std::atomic<bool> holds = true;
  std::atomic<int> asked = 0;
  RunRetentionOptions options = it.options;
  options.pause_in_pass = options.pause_after_pass = Millis{1};
  RunRetention retention({it.memory, it.memory, it.memory}, it.clock,
                         [&] {
                           ++asked;
                           return holds.load();
                         },
                         options);
  retention.start();
  retention.set_leading(true);
  while (asked < 3 && !it.left().empty()) std::this_thread::yield();
  CHECK(it.left() == RunIds{11});
  holds = false;
  while (!it.left().empty()) std::this_thread::yield();
  retention.set_leading(false);
  retention.stop();
}
