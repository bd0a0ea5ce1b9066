// Minutes of workers and pools, and lives that were kept long enough.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

WallTime minute(int index) { return wall_from_ms(kBase) + index * model::kMinute; }

model::WorkerMinute a_minute(const std::string& worker, int index, std::int64_t epoch = 1) {
  model::WorkerMinute row;
  row.worker = worker;
  row.minute = minute(index);
  row.epoch = Epoch{epoch};
  row.pool = "default";
  row.state = "online";
  row.looks = 12;
  row.samples = 11;
  row.cpu_percent = 40 + index % 50;
  row.memory_percent = 50;
  row.load_percent = 60;
  row.cpu_most_percent = 99;
  row.disk_free_bytes = std::int64_t{1} << 40;
  row.threads = 17;
  row.slots = 4;
  row.running_hundredths = 250;
  row.scheduled = 3;
  row.succeeded = 2;
  row.failed = 1;
  return row;
}

model::PoolMinute a_pool_minute(const std::string& pool, int index, std::int64_t epoch = 1) {
  model::PoolMinute row;
  row.pool = pool;
  row.minute = minute(index);
  row.epoch = Epoch{epoch};
  row.looks = 12;
  row.workers = 2;
  row.slots_hundredths = 800;
  row.used_hundredths = 350;
  row.used_most = 6;
  return row;
}

void keep(const Backend& on, const MinuteRows& rows) {
  const auto kept = on.nodes->keep_minutes(rows);
  REQUIRE_MESSAGE(kept.has_value(), (kept ? "" : kept.error().message));
}

core::WorkerLife a_life(const std::string& worker, const std::string& incarnation, int joined,
                        std::optional<int> left) {
  core::WorkerLife life;
  life.key = {worker, incarnation};
  life.address = {"h", 1};
  life.pool = "default";
  life.joined = minute(joined);
  if (left) life.left = minute(*left);
  return life;
}

std::vector<std::string> lives_left(const Backend& on, const std::string& worker) {
  std::vector<std::string> out;
  const auto lives = on.reader->lives_of(worker, 100);
  REQUIRE(lives);
  for (const auto& life : *lives) out.push_back(life.key.incarnation);
  return out;
}

}  // namespace

TEST_CASE("nodes: minutes come back as they went in, of each leader, oldest first; a repeat changes nothing") {
  ON_EACH_STORE(on, led_backends()) {
    const MinuteRows rows{{a_minute("w1", 2), a_minute("w1", 1, 2), a_minute("w1", 1), a_minute("w2", 1)},
                          {a_pool_minute("", 1), a_pool_minute("default", 1)}};
    for (int i = 0; i < 2; ++i) keep(on, rows);
    keep(on, {});
    CHECK(on.reader->worker_minutes("w1", minute(0)) ==
          std::vector{a_minute("w1", 1), a_minute("w1", 1, 2), a_minute("w1", 2)});
    CHECK(on.reader->worker_minutes("w1", minute(2)) == std::vector{a_minute("w1", 2)});
    CHECK(on.reader->worker_minutes("w", minute(0))->empty());
    CHECK(on.reader->pool_minutes(minute(1)) ==
          std::vector{a_pool_minute("", 1), a_pool_minute("default", 1)});
    CHECK(on.reader->pool_minutes(minute(2))->empty());
  }
}

TEST_CASE("nodes: what workers did is summed up since a minute, without what one leader noted") {
  ON_EACH_STORE(on, led_backends()) {
    keep(on, {{a_minute("w1", 0), a_minute("w1", 1), a_minute("w1", 2), a_minute("w2", 1), a_minute("w1", 3, 2)}, {}});
    const auto work = on.nodes->work_since(minute(1), Epoch{2});
    REQUIRE(work);
    CHECK(work->at("w1") == core::WorkerWork{6, 4, 2});
    CHECK(work->at("w2") == core::WorkerWork{3, 2, 1});
    CHECK(on.nodes->work_since(minute(1), Epoch{1})->at("w1").scheduled == 3);
  }
}

TEST_CASE("nodes: old minutes are deleted, some at a time, and the others stay") {
  ON_EACH_STORE(on, led_backends()) {
    MinuteRows rows;
    for (int i = 0; i < 25; ++i) {
      for (const char* worker : {"w1", "w2", "w3"}) rows.workers.push_back(a_minute(worker, i));
      rows.pools.push_back(a_pool_minute("default", i));
    }
    keep(on, rows);
    int rounds = 0;
    while (true) {
      const auto more = on.nodes->erase_minutes(minute(23));
      REQUIRE(more);
      if (!*more) break;
      REQUIRE(++rounds < 10);
    }
    CHECK(on.reader->worker_minutes("w2", minute(0)) == std::vector{a_minute("w2", 23), a_minute("w2", 24)});
    CHECK(on.reader->pool_minutes(minute(0))->size() == 2);
  }
}

TEST_CASE("nodes: a thousand workers fit in one minute") {
  ON_EACH_STORE(on, led_backends()) {
    MinuteRows rows;
    for (int i = 0; i < 1000; ++i) rows.workers.push_back(a_minute("w" + std::to_string(i), 0));
    keep(on, rows);
    CHECK(on.nodes->work_since(minute(0), Epoch{9})->size() == 1000);
  }
}

TEST_CASE("nodes: lives that ended long ago go, others stay: that hold an attempt, or whose end nobody saw") {
  ON_EACH_STORE(on, led_backends()) {
    core::Changes changes;
    changes.lives = {a_life("w1", "a", 0, 1),   a_life("w1", "b", 2, std::nullopt), a_life("w1", "c", 4, 5),
                     a_life("w1", "d", 30, 31), a_life("w2", "a", 0, std::nullopt)};
    core::Changes running = new_job(1, "held");
    running.new_runs.push_back(a_tick_run(100, 1, 1));
    REQUIRE(on.store->apply(Epoch{1}, running).outcome == ApplyOutcome::Applied);
    const model::WorkerKey held = running.new_runs.front().progress.worker;
    changes.lives.push_back(a_life(held.id, held.incarnation, 0, 1));
    changes.lives.push_back(a_life("w3", "a", 0, 1));
    REQUIRE(on.store->apply(Epoch{1}, changes).outcome == ApplyOutcome::Applied);
    const auto erased = on.nodes->erase_lives(minute(20), 100);
    REQUIRE(erased);
    CHECK(*erased == 4);
    CHECK(lives_left(on, "w1") == std::vector<std::string>{"d", held.incarnation});
    CHECK(lives_left(on, "w2") == std::vector<std::string>{"a"});
    CHECK(on.nodes->erase_lives(minute(20), 100) == 0);
  }
}
