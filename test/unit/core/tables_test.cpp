// The tables' own containers, each beside a plain one that is surely right.
#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "master/core/tables/due_index.h"
#include "master/core/tables/id_set.h"
#include "master/core/tables/key_memory.h"
#include "master/core/tables/rules_shelf.h"
#include "master/core/tables/run_timers.h"
#include "master/core/time/timer_index.h"

namespace rota::master::core {
namespace {

class Dice {
 public:
  std::int64_t roll(std::uint64_t sides) {
    seed_ = seed_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::int64_t>((seed_ >> 33) % sides);
  }

 private:
  std::uint64_t seed_ = 20261122;
};

template <typename All>
std::vector<RunId> ids_of(const All& all) {
  return {all.begin(), all.end()};
}

MonoTime at_ms(std::int64_t ms) { return MonoTime{} + Millis{ms}; }

}  // namespace

TEST_CASE("id set: agrees with a plain set, whatever is put in and taken out") {
  Dice dice;
  std::set<RunId> plain;
  IdSet<RunId> ids;
  std::int64_t newest = 1;
  for (int step = 0; step < 30'000; ++step) {
    const bool grows = step / 3000 % 2 == 0;
    const RunId id{dice.roll(4) == 0 ? dice.roll(3000) : ++newest};
    if (dice.roll(10) < (grows ? 7 : 3)) REQUIRE(ids.insert(id) == plain.insert(id).second);
    const RunId gone = plain.empty() || dice.roll(3) > 0 ? RunId{dice.roll(3000)} : *plain.begin();
    if (dice.roll(10) < (grows ? 3 : 8)) REQUIRE(ids.erase(gone) == (plain.erase(gone) == 1));
    REQUIRE(ids.size() == plain.size());
    REQUIRE(ids.contains(id) == plain.contains(id));
    if (step % 50 == 0) REQUIRE(ids_of(ids) == ids_of(plain));
  }
}

TEST_CASE("id set: a one-off's id, which has a high bit, is an id like others") {
  IdSet<JobId> ids;
  ids.insert(JobId{kOneOffBit | 5});
  ids.insert(JobId{7});
  CHECK(*ids.begin() == JobId{7});
  CHECK(ids.erase(JobId{7}));
  CHECK(*ids.begin() == JobId{kOneOffBit | 5});
}

TEST_CASE("id map: agrees with a plain map, and entries stay where they are") {
  Dice dice;
  std::map<RunId, const int*> plain;
  IdMap<RunId, int> ids;
  for (int step = 0; step < 20'000; ++step) {
    const RunId id{dice.roll(2) == 0 ? dice.roll(500) : step};
    if (dice.roll(2) == 0) {
      if (const int* added = ids.insert(id, std::make_unique<int>(step))) {
        REQUIRE(plain.emplace(id, added).second);
      } else {
        REQUIRE(plain.contains(id));
      }
    } else {
      REQUIRE(ids.erase(id) == (plain.erase(id) == 1));
    }
    const auto found = plain.find(id);
    REQUIRE(ids.find(id) == (found == plain.end() ? nullptr : found->second));
    const auto after = ids.upper_bound(id);
    const auto next = plain.upper_bound(id);
    REQUIRE((after == ids.end()) == (next == plain.end()));
    if (next != plain.end()) REQUIRE((*after).first == next->first);
  }
  std::vector<RunId> walked;
  for (const auto& [id, entry] : ids) walked.push_back(id);
  std::vector<RunId> expected;
  for (const auto& [id, entry] : plain) expected.push_back(id);
  CHECK(walked == expected);
}

TEST_CASE("run timers: come up in the order of a plain index") {
  Dice dice;
  TimerIndex<RunId, RunTimer> plain;
  RunTimers timers;
  for (int step = 0; step < 30'000; ++step) {
    const RunId run{1 + dice.roll(60)};
    const auto kind = static_cast<RunTimer>(dice.roll(6));
    const MonoTime at = at_ms(step / 10 + dice.roll(80));
    switch (dice.roll(step % 4000 < 2000 ? 5 : 3)) {
      case 0:
        plain.clear_all(run);
        timers.clear_all(run);
        break;
      case 1:
        plain.clear(run, kind);
        timers.clear(run, kind);
        break;
      case 2:
        REQUIRE(timers.pop_due(at) == plain.pop_due(at));
        break;
      default:
        plain.set(run, kind, at);
        timers.set(run, kind, at);
    }
    REQUIRE(timers.first() == plain.first());
    REQUIRE(timers.has(run, kind) == plain.has(run, kind));
    REQUIRE(timers.empty() == plain.empty());
  }
}

TEST_CASE("due index: agrees with a plain set of moments and jobs") {
  Dice dice;
  std::set<DueTick> plain;
  DueIndex due;
  for (int step = 0; step < 20'000; ++step) {
    const DueTick tick{wall_from_ms(dice.roll(40)), JobId{dice.roll(50)}};
    if (dice.roll(step % 4000 < 2000 ? 3 : 2) > 0) {
      due.insert(tick);
      plain.insert(tick);
    } else {
      due.erase(tick);
      plain.erase(tick);
    }
    REQUIRE(due.size() == plain.size());
    REQUIRE(due.contains(tick) == plain.contains(tick));
    REQUIRE(due.first() == (plain.empty() ? std::nullopt : std::optional(*plain.begin())));
    const auto later = plain.upper_bound({tick.at, JobId{1000}});
    REQUIRE(due.first_after(tick.at) == (later == plain.end() ? std::nullopt : std::optional(*later)));
    if (step % 100 != 0) continue;
    std::vector<DueTick> walked;
    for (const DueTick each : due) walked.push_back(each);
    REQUIRE(walked == std::vector<DueTick>(plain.begin(), plain.end()));
  }
}

TEST_CASE("rules shelf: equal rules are one object, and equal crons of one zone one schedule") {
  RulesShelf shelf;
  const auto rules_of = [](const char* cron, std::int32_t queue_limit) {
    model::JobRules rules;
    rules.schedule.kind = model::ScheduleKind::Cron;
    rules.schedule.cron = cron;
    rules.queue_limit = queue_limit;
    return std::make_shared<const master::core::KeptRules>(rules);
  };
  const auto zone = std::make_shared<const model::ZoneRules>();
  const auto plan = [&](const char* cron, std::int32_t limit, const ZonePtr& in) {
    return *shelf.plan(shelf.share(rules_of(cron, limit)), in, wall_from_ms(0));
  };
  const Plan noon = plan("0 12 * * *", 1, zone), same = plan("0 12 * * *", 1, zone);
  CHECK(noon.rules == same.rules);
  CHECK(noon.schedule == same.schedule);
  CHECK(plan("0 12 * * *", 2, zone).rules != noon.rules);  // its hash is the same
  CHECK(plan("0 13 * * *", 1, zone).schedule != noon.schedule);
  const auto other = std::make_shared<const model::ZoneRules>(*zone);
  CHECK(plan("0 12 * * *", 1, other).schedule != noon.schedule);
  CHECK_FALSE(shelf.plan(shelf.share(rules_of("0 99 * * *", 1)), zone, wall_from_ms(0)));
}

TEST_CASE("rules shelf: fixed rates with different anchors share their rules alone") {
  RulesShelf shelf;
  model::JobRules rules;
  rules.schedule.kind = model::ScheduleKind::FixedRate;
  rules.schedule.interval = Millis{1000};
  const auto plan = [&](std::int64_t anchor_ms) {
    return *shelf.plan(shelf.share(std::make_shared<const master::core::KeptRules>(rules)), nullptr, wall_from_ms(anchor_ms));
  };
  const Plan a = plan(0), b = plan(300);
  CHECK(a.rules == b.rules);
  CHECK(b.schedule->next_after(wall_from_ms(1000)) == wall_from_ms(1300));
  CHECK(a.schedule->next_after(wall_from_ms(1000)) == wall_from_ms(2000));
}

TEST_CASE("rules shelf: entries are shared unless the job's name or its anchor is part of them") {
  RulesShelf shelf;
  const auto zone = std::make_shared<const model::ZoneRules>();
  std::vector<Plan> plans;  // what no job has any more is not kept
  const auto plan = [&](const char* line, std::uint64_t hash, std::int64_t anchor_ms) {
    model::JobRules rules;
    rules.schedule.kind = model::ScheduleKind::Entries;
    rules.schedule.entries = {line, "at 2026-01-01T00:00:00Z"};
    const RulesPtr shared = shelf.share(std::make_shared<const master::core::KeptRules>(rules));
    plans.push_back(*shelf.plan(shared, zone, wall_from_ms(anchor_ms), hash));
    return plans.back().schedule;
  };
  const auto daily = plan("cron 0 12 * * *; between 09:00-17:00", 1, 0);
  CHECK(plan("cron 0 12 * * *; between 09:00-17:00", 2, 5) == daily);
  const auto spread = plan("cron H 12 * * *", 1, 0);
  CHECK(plan("cron H 12 * * *", 2, 0) != spread);
  const auto rate = plan("every 10s", 1, 0);
  CHECK(plan("every 10s", 1, 300) != rate);
}

TEST_CASE("rules shelf: what no job has any more is not kept") {
  RulesShelf shelf;
  std::weak_ptr<const model::JobRules> gone;
  for (int i = 0; i < 1000; ++i) {
    model::JobRules rules;
    rules.timeout = Millis{i};
    const RulesPtr shared = shelf.share(std::make_shared<const master::core::KeptRules>(rules));
    if (i == 0) gone = shared;
  }
  CHECK(gone.expired());
  CHECK(shelf.size() < 200);
}

TEST_CASE("key memory: a key belongs to whoever used it") {
  KeyMemory keys;
  keys.remember("ann", "x1", "hash", RunId{1}, at_ms(10));
  keys.remember("annx", "1", "hash", RunId{2}, at_ms(10));
  REQUIRE(keys.find("ann", "x1", "hash"));
  CHECK(keys.find("ann", "x1", "hash")->run == RunId{1});
  CHECK(keys.find("annx", "1", "hash")->run == RunId{2});
  CHECK(keys.find("annx", "1", "hash")->has_same_hash);
  CHECK_FALSE(keys.find("annx", "1", "hasH")->has_same_hash);
  CHECK_FALSE(keys.find("bob", "x1", "hash"));
}

TEST_CASE("key memory: digits are kept in half the room, and no two texts become one") {
  const std::string digits(300, 'a'), many(1000, '7'), words(600, 'x');
  const std::vector<std::string> texts = {
      "",          "1",          "12345678",    "123456789",  "1234567",   "12345678x",  "x12345678",
      "x",         "xx",         "1234567g",    "ABCDEF01",   "abcdef01",  "abcdef0",    "0abcdef01",
      digits,      digits + "a", digits + "x",  many,         many + "7",  words,        words + "x",
      words + "1", "auto-0193a1b2c3d4-00112233445566778899",  "auto-0193a1b2c3d4-00112233445566778898",
      std::string("\x08", 1), std::string("\0\4", 2), std::string("\1x\0", 3), "12345678x12345678",
      "x12345678x",  std::string(255, 'x'),  std::string(256, 'x'),  std::string(510, 'x')};
  KeyMemory keys;
  std::int64_t run = 0;
  for (const auto& principal : texts) {
    for (const auto& key : texts) {
      REQUIRE_FALSE(keys.find(principal, key, ""));
      keys.remember(principal, key, key + principal, RunId{++run}, at_ms(10));
    }
  }
  run = 0;
  for (const auto& principal : texts) {
    for (const auto& key : texts) {
      const auto seen = keys.find(principal, key, key + principal);
      REQUIRE(seen);
      CHECK(seen->run == RunId{++run});
      CHECK(seen->has_same_hash);
      CHECK_FALSE(keys.find(principal, key, key + principal + "0")->has_same_hash);
    }
  }
}

TEST_CASE("key memory: forgets the oldest first, by time and by number, and finds all others") {
  KeyMemory keys;
  std::int64_t oldest = 0;
  const auto text = [](std::int64_t number) { return "key-" + std::to_string(number); };
  for (std::int64_t i = 0; i < 3000; ++i) {
    keys.remember("local", text(i), "h" + std::to_string(i), RunId{i}, at_ms(i));
    if (i % 7 != 0) continue;
    oldest = i / 2;
    keys.forget_old(at_ms(oldest - 1));
    REQUIRE(keys.size() == static_cast<std::size_t>(i - oldest + 1));
    REQUIRE_FALSE(keys.find("local", text(oldest - 1), "h"));
    for (std::int64_t kept = oldest; kept <= i; kept += 11) {
      REQUIRE(keys.find("local", text(kept), "h"));
      REQUIRE(keys.find("local", text(kept), "h")->run == RunId{kept});
    }
  }
  keys.forget_old(at_ms(3000));
  CHECK(keys.size() == 0);
  CHECK_FALSE(keys.find("local", text(2999), "h"));
  const auto most = static_cast<std::int64_t>(KeyMemory::kKeysMost);
  for (std::int64_t i = 0; i < most + 5; ++i) keys.remember("local", text(i), "h", RunId{i + 1}, at_ms(i));
  CHECK(keys.size() == KeyMemory::kKeysMost);
  CHECK_FALSE(keys.find("local", text(4), "h"));
  CHECK(keys.find("local", text(5), "h"));
}

}  // namespace rota::master::core
