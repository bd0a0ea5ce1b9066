// What is counted of workers for people: what they were given, their share, their beats; and how far slots reach.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "harness.h"
#include "master/core/tables/work_table.h"
#include "master/core/workers/capacity_rules.h"
#include "master/core/workers/usage_rules.h"

using namespace rota;
using namespace rota::test;
using namespace rota::master::core;
using model::PoolMinute;
using model::RunState;

namespace {

WorkerView shown_of(Harness& h, const std::string& id) {
  for (WorkerView& each : h.scheduler->snapshot(h.now).workers) {
    if (each.info->key.id == id) return std::move(each);
  }
  FAIL("no worker " << id);
  return {};
}

constexpr std::int64_t kFirstMinute = 1'700'000'040'000;  // a whole minute

PoolMinute pool_minute(int index, double slots, double used) {
  PoolMinute row;
  row.pool = "etl";
  row.minute = wall_from_ms(kFirstMinute + 60'000LL * index);
  row.epoch = Epoch{3};
  row.looks = 12;
  row.workers = 2;
  row.slots_hundredths = static_cast<std::int64_t>(100 * slots);
  row.used_hundredths = static_cast<std::int64_t>(100 * used);
  row.used_most = static_cast<std::int64_t>(used) + 1;
  return row;
}

/// `used` grows by `step` slots each minute.
std::vector<PoolMinute> growing(int minutes, double slots, double used, double step) {
  std::vector<PoolMinute> rows;
  for (int i = 0; i < minutes; ++i) rows.push_back(pool_minute(i, slots, used + step * i));
  return rows;
}

WallTime end_of(const std::vector<PoolMinute>& rows) { return rows.back().minute + model::kMinute; }

model::AttemptUsage usage_said(std::int64_t run, std::int64_t cpu_us) {
  model::AttemptUsage out;
  out.key = {RunId{run}, 1};
  out.cpu_us = cpu_us;
  return out;
}

}  // namespace

TEST_CASE("nodes: attempts of a worker are counted by how they ended, a kill that was asked for is neither") {
  Harness h;
  h.join(a_worker("w1"));
  h.apply(a_job("a").overlap(model::Overlap::Allow));
  for (const RunState end : {RunState::Succeeded, RunState::Succeeded, RunState::Failed, RunState::TimedOut}) {
    h.report(h.run_now("a"), end);
  }
  const RunId killed = h.run_now("a");
  h.accept(killed);
  h.cancel(killed);
  h.report(killed, RunState::Killed);
  CHECK(shown_of(h, "w1").work == WorkerWork{5, 2, 2});
}

TEST_CASE("nodes: lost attempts count as failed, and the worker's counts outlive its life") {
  Harness h;
  h.listed();
  const auto key = h.join(a_worker("w1"));
  h.apply(a_job("a"));
  h.run_now("a");
  h.leave(key);
  h.advance(60s);
  CHECK(shown_of(h, "w1").work.failed == 1);
}

TEST_CASE("nodes: the share is of the last thousand runs of a pool") {
  WorkTable work;
  CHECK(work.share_of("w1", "default").of == 0);
  for (int i = 0; i < 600; ++i) work.note_given("w1", "default");
  for (int i = 0; i < 200; ++i) work.note_given("w2", "default");
  for (int i = 0; i < 50; ++i) work.note_given("w1", "other");
  CHECK(work.share_of("w1", "default").given == 600);
  CHECK(work.share_of("w1", "default").of == 800);
  CHECK(work.share_of("w1", "other").of == 50);
  for (int i = 0; i < 800; ++i) work.note_given("w2", "default");
  CHECK(work.share_of("w1", "default").given == 0);
  CHECK(work.share_of("w2", "default").given == 1000);
  CHECK(work.of("w1").scheduled == 650);
}

TEST_CASE("nodes: beyond so many workers nothing more is counted, and those before go on") {
  WorkTable work;
  for (std::size_t i = 0; i < kWorkersCounted; ++i) work.note_end("w" + std::to_string(i), true);
  work.note_end("one more", true);
  work.note_end("w0", false);
  CHECK(work.of("one more").succeeded == 0);
  CHECK(work.of("w0") == WorkerWork{0, 1, 1});
}

TEST_CASE("nodes: a heartbeat is as old as the last renewal, also of a worker that has just gone") {
  Harness h;
  h.listed();
  const auto key = h.join(a_worker("w1"));
  h.renew(key);
  const WallTime heard = h.now.wall;
  h.advance(2s);
  CHECK(shown_of(h, "w1").heard == heard);
  h.leave(key);
  REQUIRE(shown_of(h, "w1").heard);
  CHECK(*shown_of(h, "w1").heard <= h.now.wall);
}

TEST_CASE("nodes: figures of attempts come in parts, and those that ended are dropped") {
  IdSet<RunId> held;
  for (const std::int64_t run : {1, 2, 3}) held.insert(RunId{run});
  const auto known = usage_with({usage_said(1, 10), usage_said(2, 20), usage_said(9, 90)},
                                {usage_said(3, 30), usage_said(2, 21)}, held);
  REQUIRE(known.size() == 3);
  CHECK(known[0].cpu_us == 10);
  CHECK(known[1].cpu_us == 21);
  CHECK(known[2].cpu_us == 30);
}

TEST_CASE("nodes: a renewal with a part of the figures leaves the others, one without takes them back") {
  Harness h;
  const auto key = h.join(a_worker("w1"));
  h.apply(a_job("a").overlap(model::Overlap::Allow));
  const RunId first = h.run_now("a"), second = h.run_now("a");
  const auto renew_with = [&](RunId run, bool is_part) {
    RenewAsked event{Token{77}, key, model::WorkerVitals{}};
    event.usage = {usage_said(run.value, run.value)};
    event.has_part_of_usage = is_part;
    h.handle(event);
    return shown_of(h, "w1").usage->size();
  };
  CHECK(renew_with(first, true) == 1);
  CHECK(renew_with(second, true) == 2);
  CHECK(renew_with(second, false) == 1);
}

TEST_CASE("capacity: growth needs an hour of minutes") {
  const auto rows = growing(60, 16, 4, 0.01);
  CHECK_FALSE(capacity_of(rows, 30).growth_per_day);
  const auto more = growing(61, 16, 4, 0.01);
  REQUIRE(capacity_of(more, 30).growth_per_day);
  CHECK(*capacity_of(more, 30).growth_per_day == doctest::Approx(14.4).epsilon(0.01));
  CHECK_FALSE(capacity_of({pool_minute(0, 16, 4), pool_minute(90, 16, 5)}, 30).growth_per_day);
}

TEST_CASE("capacity: at a steady growth the reserve ends first, then the slots") {
  const auto rows = growing(120, 20, 2, 0.01);  // 14.4 slots a day; 3.19 in use now
  const PoolCapacity now = capacity_of(rows, 30);
  REQUIRE(now.reserve_ends);
  REQUIRE(now.slots_end);
  const auto days = [&](WallTime end) { return static_cast<double>((end - now.newest).count()) / 86'400'000; };
  CHECK(days(*now.reserve_ends) == doctest::Approx((14 - 3.19) / 14.4).epsilon(0.01));
  CHECK(days(*now.slots_end) == doctest::Approx((20 - 3.19) / 14.4).epsilon(0.01));
  CHECK(now.free_percent == doctest::Approx(84).epsilon(0.01));
  CHECK_FALSE(now.is_short);
}

TEST_CASE("capacity: what does not grow does not end, and what is far away is not told") {
  CHECK_FALSE(capacity_of(growing(120, 20, 5, 0), 30).slots_end);
  CHECK_FALSE(capacity_of(growing(120, 20, 10, -0.01), 30).slots_end);
  CHECK_FALSE(capacity_of(growing(120, 1'000'000, 1, 0.01), 30).slots_end);
}

TEST_CASE("capacity: what is full has ended now, and more than there is counts as full") {
  const auto rows = growing(120, 10, 12, 0);
  const PoolCapacity now = capacity_of(rows, 30);
  CHECK(now.is_short);
  CHECK(now.slots_end == now.newest);
  CHECK(now.free_percent < 0);
}

TEST_CASE("capacity: a pool without slots is not short") {
  CHECK_FALSE(capacity_of(growing(120, 0, 0, 0), 30).is_short);
  CHECK_FALSE(short_since(growing(120, 0, 0, 0), 30, wall_from_ms(kFirstMinute + 120 * 60'000)));
}

TEST_CASE("capacity: short is what was so for fifteen minutes, with one of them missing at most") {
  auto rows = growing(15, 10, 8, 0);
  CHECK(short_since(rows, 30, end_of(rows)) == rows.front().minute);
  CHECK_FALSE(short_since(rows, 10, end_of(rows)));
  rows.erase(rows.begin() + 7);
  CHECK(short_since(rows, 30, end_of(rows)) == rows.front().minute);
  rows.erase(rows.begin() + 3);
  CHECK_FALSE(short_since(rows, 30, end_of(rows)));
  const auto few = growing(13, 10, 8, 0);
  CHECK_FALSE(short_since(few, 30, end_of(few)));
}

TEST_CASE("capacity: one good minute ends a shortage, and old rows say nothing") {
  auto rows = growing(30, 10, 8, 0);
  CHECK(short_since(rows, 30, end_of(rows)) == rows.front().minute);
  CHECK_FALSE(short_since(rows, 30, end_of(rows) + 10 * model::kMinute));
  rows[27].used_hundredths = 100;
  CHECK_FALSE(short_since(rows, 30, end_of(rows)));
}

TEST_CASE("capacity: rows of two leaders in one minute are one, weighed by their looks") {
  PoolMinute before = pool_minute(0, 10, 2), after = pool_minute(0, 10, 8);
  before.looks = 9;
  after.looks = 3;
  after.epoch = Epoch{4};
  const auto rows = whole_minutes({after, pool_minute(1, 10, 5), before});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].used_hundredths == 350);
  CHECK(rows[0].looks == 12);
  model::WorkerMinute one, other;
  one.samples = one.looks = 1;
  one.cpu_percent = 10;
  one.disk_free_bytes = 5;
  one.scheduled = 2;
  one.epoch = Epoch{3};
  other = one;
  other.epoch = Epoch{4};
  other.looks = 3;
  other.samples = 3;
  other.cpu_percent = 50;
  other.disk_free_bytes = 3;
  other.failed = 1;
  const auto whole = whole_minutes(std::vector{other, one});
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].cpu_percent == 40);
  CHECK(whole[0].disk_free_bytes == 3);
  CHECK(whole[0].scheduled == 4);
  CHECK(whole[0].failed == 1);
}

TEST_CASE("capacity: a shortage is told to receivers that want to hear of it") {
  CoreOptions options;
  options.receivers = {{"ops", {model::Happening::LowCapacity}, true}, {"dba", {model::Happening::Lost}, true}};
  Harness h({}, options);
  h.handle(CapacityLow{"8.0 of 10 slots of pool etl are in use: 20 % are free, and 30 % should be"});
  REQUIRE(h.notifications.size() == 1);
  const auto& row = h.notifications.begin()->second;
  CHECK(row.receiver == "ops");
  CHECK(row.what == model::Happening::LowCapacity);
  CHECK(row.text.find("pool etl") != std::string::npos);
}
