#include "master/upkeep/log_retention.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "master/store/logs/log_rules.h"
#include "master/store/memory/memory_store.h"

using namespace rota;
using namespace rota::master;
using std::chrono::hours;

namespace {

const Millis kDay = hours{24};

struct RetentionSetting {
  RetentionSetting() {
    REQUIRE(memory.enter_office(Epoch{1}, "test"));
    add_job(1, Millis{0});
    add_job(2, 3 * kDay);
    add_job(3, model::kKeepForEver);
  }
  void add_job(std::int64_t id, Millis keep) {
    model::JobDefinition definition;
    definition.name = "job" + std::to_string(id);
    definition.rules.keep_logs = keep;
    model::Job job;
    job.id = JobId{id};
    job.name = definition.name;
    job.version = ++versions;
    model::JobVersionRow version;
    version.job = job.id;
    version.version = job.version;
    version.definition = std::make_shared<const model::JobDefinition>(definition);
    core::Changes changes;
    changes.jobs.push_back(job);
    changes.versions.push_back(version);
    REQUIRE(memory.apply(Epoch{1}, changes).outcome == store::ApplyOutcome::Applied);
  }
  void add_run(std::int64_t id, std::int64_t job, bool is_final = true, int chunks = 1) {
    model::Run run;
    run.id = RunId{id};
    run.job = JobId{job};
    run.recorded = clock.wall();
    run.progress.state = is_final ? model::RunState::Succeeded : model::RunState::Running;
    if (is_final) run.progress.ended = clock.wall();
    core::Changes changes;
    changes.new_runs.push_back(run);
    REQUIRE(memory.apply(Epoch{1}, changes).outcome == store::ApplyOutcome::Applied);
    for (int i = 0; i < chunks; ++i) {
      store::LogChunk chunk;
      chunk.attempt = {run.id, 1};
      chunk.offset = i * 3;
      chunk.bytes = "abc";
      chunk.crc32 = store::crc_of(chunk.bytes);
      REQUIRE(memory.append({chunk}));
    }
  }
  std::vector<std::int64_t> left() {
    std::vector<std::int64_t> runs;
    const auto found = memory.runs_with_logs(RunId{}, 10'000);
    REQUIRE(found);
    for (const RunId run : *found) runs.push_back(run.value);
    return runs;
  }
  void whole_pass() {
    for (int i = 0; i < 1000; ++i) {
      const auto done = retention.round();
      REQUIRE(done);
      if (done->pass_over && !done->is_deleting) return;
    }
    FAIL("a pass that does not end");
  }

  int versions = 0;
  FakeClock clock;
  store::MemoryStore memory;
  RetentionOptions options{.keep_logs = kDay, .runs_per_round = 4, .rows_per_delete = 3,
                           .deletes_per_round = 2};
  LogRetention retention{memory, memory, clock, [] { return false; }, options};
};

using Ids = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("retention: output goes when its time is over, by its job's word or the default") {
  RetentionSetting it;
  it.add_run(11, 1);
  it.add_run(12, 2);
  it.add_run(13, 3);
  it.add_run(14, 1, false);
  it.whole_pass();
  CHECK(it.left() == Ids{11, 12, 13, 14});
  it.clock.advance(kDay - Millis{1});
  it.whole_pass();
  CHECK(it.left() == Ids{11, 12, 13, 14});
  it.clock.advance(Millis{1});
  it.whole_pass();
  CHECK(it.left() == Ids{12, 13, 14});
  CHECK(it.memory.pruned_among({RunId{11}, RunId{12}})->size() == 1);
  CHECK(it.memory.pruned_among({RunId{11}})->at(RunId{11}) == it.clock.wall());
  it.clock.advance(1000 * kDay);
  it.whole_pass();
  CHECK(it.left() == Ids{13, 14});  // forever, and still running
}

TEST_CASE("retention: of too much the oldest goes before its time, and no more than that") {
  RetentionSetting it;
  RetentionOptions tight = it.options;
  tight.limit_bytes = 20;
  LogRetention retention(it.memory, it.memory, it.clock, [] { return false; }, tight);
  std::size_t for_room = 0;
  const auto whole_pass = [&] {
    for (bool is_over = false; !is_over;) {
      const auto done = retention.round();
      REQUIRE(done);
      for_room += done->for_room;
      is_over = done->pass_over && !done->is_deleting;
    }
  };
  it.add_run(11, 3);         // forever
  it.add_run(12, 1, false);  // still running
  for (std::int64_t run = 13; run <= 17; ++run) it.add_run(run, 1, true, 2);
  whole_pass();
  CHECK(it.left().size() == 7);  // counted: 36 bytes
  whole_pass();
  CHECK(it.left() == Ids{11, 12, 16, 17});  // 18 bytes: with one more there were 24
  CHECK(for_room == 3);
  CHECK(it.memory.pruned_among({RunId{13}, RunId{16}})->size() == 1);
  whole_pass();
  whole_pass();
  CHECK(it.left() == Ids{11, 12, 16, 17});
  it.add_run(18, 1, true, 2);
  whole_pass();
  whole_pass();
  CHECK(it.left() == Ids{11, 12, 17, 18});
}

TEST_CASE("retention: what the newest version says holds for older runs too") {
  RetentionSetting it;
  it.add_run(11, 3);
  it.clock.advance(2 * kDay);
  it.whole_pass();
  CHECK(it.left() == Ids{11});
  it.add_job(3, kDay);
  it.whole_pass();
  CHECK(it.left().empty());
}

TEST_CASE("retention: a round is bounded, however much there is") {
  RetentionSetting it;
  for (std::int64_t run = 1; run <= 30; ++run) it.add_run(run, 1, true, 5);
  it.clock.advance(2 * kDay);
  std::size_t chunks = 150;
  int rounds = 0;
  for (; !it.left().empty(); ++rounds) {
    REQUIRE(rounds < 100);
    const auto done = it.retention.round();
    REQUIRE(done);
    CHECK(done->seen <= 4);
    std::size_t now = 0;
    for (std::int64_t one = 0; one < 150; ++one) {
      const model::AttemptKey attempt{RunId{1 + one / 5}, 1};
      now += it.memory.read(attempt, store::LogStream::Out, one % 5 * 3, 3)->bytes.size() / 3;
    }
    CHECK(chunks - now <= 6);
    chunks = now;
  }
  CHECK(rounds >= 25);
  CHECK(it.memory.pruned_among({RunId{30}})->size() == 1);
}

TEST_CASE("retention: after an error, or with another leader's marks, it takes up where it was") {
  RetentionSetting it;
  for (std::int64_t run = 1; run <= 6; ++run) it.add_run(run, 1);
  REQUIRE(it.memory.note_pruned({RunId{2}}, wall_from_ms(5)));
  it.clock.advance(2 * kDay);
  it.memory.set_down(true);
  CHECK_FALSE(it.retention.round());
  it.memory.set_down(false);
  it.whole_pass();
  CHECK(it.left().empty());
  CHECK(it.memory.pruned_among({RunId{2}})->at(RunId{2}) == wall_from_ms(5));
}

TEST_CASE("retention: deletes only while its master leads and the clock is to be trusted") {
  RetentionSetting it;
  it.add_run(11, 1);
  it.clock.advance(2 * kDay);
  std::atomic<bool> holds = true;
  std::atomic<int> asked = 0;
  RetentionOptions options = it.options;
  options.pause_in_pass = options.pause_after_pass = Millis{1};
  LogRetention retention(it.memory, it.memory, it.clock,
                         [&] {
                           ++asked;
                           return holds.load();
                         },
                         options);
  retention.start();
  CHECK(asked == 0);
  retention.set_leading(true);
  while (asked < 3) std::this_thread::yield();
  CHECK(it.left() == Ids{11});
  holds = false;
  while (!it.left().empty()) std::this_thread::yield();
  retention.set_leading(false);
  retention.stop();
}
