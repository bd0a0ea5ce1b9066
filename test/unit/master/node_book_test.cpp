// Looks at workers, put together minute by minute and stored beside the loop.
#include <doctest/doctest.h>

#include "master/store/memory/memory_store.h"
#include "master/upkeep/node_book.h"
#include "master/upkeep/node_history.h"

using namespace rota;
using namespace rota::master;
using core::WorkerWork;

namespace {

constexpr std::int64_t kMidnight = 1'700'006'400'000;  // of a day in UTC
const WallTime kMorning = wall_from_ms(kMidnight + 6 * 3'600'000);

core::WorkerView a_view(const std::string& id, std::int32_t cpu, WallTime sampled, WorkerWork work = {}) {
  model::WorkerInfo info;
  info.key = {id, "i1"};
  info.slots = 4;
  core::WorkerView view;
  view.info = core::SharedInfo(std::move(info));
  view.state = "online";
  view.running = view.used_slots = 1;
  view.vitals.emplace();
  view.vitals->cpu_percent = cpu;
  view.vitals->disk_free_bytes = 1000 - cpu;
  view.vitals->threads = cpu;
  view.vitals->sampled = sampled;
  view.work = work;
  return view;
}

core::Snapshot seen_workers(std::vector<core::WorkerView> workers, Epoch epoch = Epoch{2}) {
  core::Snapshot snapshot;
  snapshot.epoch = epoch;
  snapshot.workers = std::move(workers);
  return snapshot;
}

/// A leader's history on one store, whose workers are as the test says.
struct NodeSetting {
  explicit NodeSetting(store::MemoryStore& memory, FakeClock& at, Epoch epoch, NodeHistoryOptions options = {})
      : clock(at),
        history(
            NodeHistoryParts{memory, memory, [this] { return snapshot; }, [this] { return holds; },
                             [this](const core::PoolShortage& one) { told.push_back(one.words); }},
            at, options),
        term(epoch) {
    history.begin();
  }
  void look(std::vector<core::WorkerView> workers) {
    snapshot = std::make_shared<const core::Snapshot>(seen_workers(std::move(workers), term));
    history.round();
    clock.advance(Millis{5000});
  }
  /// Looks at one worker for some minutes.
  void minutes(int count, std::int32_t running, WorkerWork work = {}) {
    for (int i = 0; i < 12 * count; ++i) {
      core::WorkerView view = a_view("w1", 50, clock.wall(), work);
      view.running = view.used_slots = running;
      look({std::move(view)});
    }
  }

  FakeClock& clock;
  std::shared_ptr<const core::Snapshot> snapshot;
  bool holds = false;
  std::vector<std::string> told;
  NodeHistory history;
  Epoch term;
};

}  // namespace

TEST_CASE("node book: a minute is the average of its looks, with the most and the least") {
  NodeBook book;
  book.begin(kMorning);
  CHECK_FALSE(book.look(seen_workers({a_view("w1", 10, kMorning)}), kMorning));
  CHECK_FALSE(book.look(seen_workers({a_view("w1", 40, kMorning)}), kMorning + Millis{5000}));
  const auto rows = book.look(seen_workers({}), kMorning + model::kMinute);
  REQUIRE(rows);
  REQUIRE(rows->workers.size() == 1);
  const model::WorkerMinute& row = rows->workers.front();
  CHECK(row.worker == "w1");
  CHECK(row.minute == kMorning);
  CHECK(row.epoch == Epoch{2});
  CHECK(row.looks == 2);
  CHECK(row.samples == 2);
  CHECK(row.cpu_percent == 25);
  CHECK(row.cpu_most_percent == 40);
  CHECK(row.disk_free_bytes == 960);
  CHECK(row.threads == 40);
  CHECK(row.running_hundredths == 100);
  REQUIRE(rows->pools.size() == 2);
  CHECK(rows->pools[0].pool.empty());
  CHECK(rows->pools[1].slots_hundredths == 400);
  CHECK(rows->pools[1].used_hundredths == 100);
}

TEST_CASE("node book: figures that are old say nothing, and a worker that is away has no minute") {
  NodeBook book;
  book.begin(kMorning);
  auto gone = a_view("w2", 10, kMorning);
  gone.state = "offline";
  book.look(seen_workers({a_view("w1", 90, kMorning - Millis{60'000}), gone}), kMorning);
  const auto rows = book.look(seen_workers({}), kMorning + model::kMinute);
  REQUIRE(rows);
  REQUIRE(rows->workers.size() == 1);
  CHECK(rows->workers.front().samples == 0);
  CHECK(rows->workers.front().looks == 1);
}

TEST_CASE("node book: what a worker did is in one minute each, and is summed up until midnight") {
  NodeBook book;
  book.begin(kMorning);
  book.add_earlier({{"w1", {10, 9, 1}}, {"w9", {1, 1, 0}}});
  book.look(seen_workers({a_view("w1", 0, kMorning, {3, 2, 0})}), kMorning);
  auto rows = book.look(seen_workers({a_view("w1", 0, kMorning, {5, 3, 1})}), kMorning + model::kMinute);
  REQUIRE(rows);
  CHECK(rows->workers.front().scheduled == 3);
  CHECK(rows->workers.front().succeeded == 2);
  rows = book.look(seen_workers({}), kMorning + 2 * model::kMinute);
  REQUIRE(rows);
  CHECK(rows->workers.front().scheduled == 2);
  CHECK(rows->workers.front().failed == 1);
  CHECK(book.today().at("w1") == WorkerWork{15, 12, 2});
  CHECK(book.today().at("w9").succeeded == 1);
  CHECK(book.counted_from() == day_of(kMorning));
  const WallTime tomorrow = day_of(kMorning) + std::chrono::hours{24};
  book.look(seen_workers({a_view("w1", 0, kMorning, {6, 3, 1})}), tomorrow);
  CHECK(book.today().at("w1") == WorkerWork{1, 0, 0});
  CHECK(book.counted_from() == tomorrow);
}

TEST_CASE("node book: the limit of a pool counts where it is lower, and a drained worker has no slots") {
  NodeBook book;
  book.begin(kMorning);
  auto drained = a_view("w2", 0, kMorning);
  drained.state = "draining";
  auto snapshot = seen_workers({a_view("w1", 0, kMorning), drained});
  core::QuotaView limit;
  limit.name = "default";
  limit.quota.slots = 3;
  snapshot.pools.push_back(limit);
  book.look(snapshot, kMorning);
  const auto rows = book.look(seen_workers({}), kMorning + model::kMinute);
  REQUIRE(rows);
  CHECK(rows->pools.at(1).slots_hundredths == 300);
  CHECK(rows->pools.at(1).workers == 1);
  CHECK(rows->workers.size() == 2);
}

TEST_CASE("node book: more workers than are noted are counted, and the first go on") {
  NodeBook book;
  book.begin(kMorning);
  std::vector<core::WorkerView> many;
  for (std::size_t i = 0; i < kWorkersNoted + 7; ++i) many.push_back(a_view("w" + std::to_string(i), 1, kMorning));
  book.look(seen_workers(many), kMorning);
  CHECK(book.unnoted() == 7);
  const auto rows = book.look(seen_workers({}), kMorning + model::kMinute);
  REQUIRE(rows);
  CHECK(rows->workers.size() == kWorkersNoted);
}

TEST_CASE("node history: minutes are stored, a write that fails loses one, and a new leader goes on with the day") {
  store::MemoryStore memory;
  FakeClock clock(kMorning);
  {
    NodeSetting leader(memory, clock, Epoch{2});
    leader.minutes(1, 2, {3, 1, 0});
    leader.look({a_view("w1", 50, clock.wall(), {3, 1, 0})});
    CHECK(memory.worker_minutes("w1", kMorning)->size() == 1);
    memory.set_down(true);
    leader.minutes(1, 2, {7, 2, 0});
    memory.set_down(false);
    leader.minutes(1, 2, {7, 2, 0});
    CHECK(memory.worker_minutes("w1", kMorning)->size() == 2);
    REQUIRE(leader.history.facts());
    CHECK(leader.history.facts()->today.at("w1") == WorkerWork{7, 2, 0});
  }
  NodeSetting next(memory, clock, Epoch{3});
  next.minutes(1, 2, {1, 1, 0});
  CHECK(next.history.facts()->day == day_of(kMorning));
  CHECK(next.history.facts()->today.at("w1") == WorkerWork{4, 2, 0});  // of the lost minute nobody knows
}

TEST_CASE("node history: while the store is down a day is counted from this Term on") {
  store::MemoryStore memory;
  FakeClock clock(kMorning);
  memory.set_down(true);
  NodeSetting leader(memory, clock, Epoch{2});
  leader.minutes(2, 1, {5, 5, 0});
  CHECK(leader.history.facts()->day == kMorning);
  memory.set_down(false);
  leader.minutes(2, 1, {6, 6, 0});
  CHECK(leader.history.facts()->day == day_of(kMorning));
  CHECK(leader.history.facts()->today.at("w1") == WorkerWork{6, 6, 0});
}

TEST_CASE("node history: minutes go after a day, not while the clock is in doubt") {
  store::MemoryStore memory;
  FakeClock clock(kMorning);
  NodeSetting leader(memory, clock, Epoch{2});
  leader.minutes(2, 1);
  clock.advance(std::chrono::hours{24});
  leader.holds = true;
  leader.minutes(2, 1);
  CHECK(memory.worker_minutes("w1", wall_from_ms(0))->size() == 3);
  leader.holds = false;
  leader.minutes(2, 1);
  CHECK(memory.worker_minutes("w1", wall_from_ms(0))->front().minute >= kMorning + std::chrono::hours{24});
}

TEST_CASE("node history: a pool that is short for fifteen minutes is told once in a Term, until it has its reserve") {
  store::MemoryStore memory;
  FakeClock clock(kMorning);
  NodeSetting leader(memory, clock, Epoch{2});
  leader.minutes(10, 4);
  CHECK(leader.told.empty());
  leader.minutes(10, 4);
  REQUIRE(leader.told.size() == 2);  // of the pool, and of all pools
  CHECK(leader.told[1].find("pool default") != std::string::npos);
  REQUIRE(leader.history.facts()->shortages.size() == 2);
  CHECK(leader.history.facts()->shortages[1].since == kMorning);
  leader.minutes(10, 4);
  CHECK(leader.told.size() == 2);
  CHECK(leader.history.facts()->shortages[1].since == kMorning);
  NodeSetting next(memory, clock, Epoch{3});
  next.minutes(2, 4);
  CHECK(next.told.size() == 2);
  next.minutes(2, 1);
  CHECK(next.history.facts()->shortages.empty());
}
