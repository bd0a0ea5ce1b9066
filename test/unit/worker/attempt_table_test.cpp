#include "worker/desk/attempt_table.h"

#include <doctest/doctest.h>

namespace rota::worker::desk {

namespace {

using model::Refusal;
using model::RunState;

const model::WorkerKey kLife{"w1", "aa"};
const MonoTime kNow{std::chrono::seconds{1000}};

model::AttemptKey key(std::int64_t run, AttemptNo attempt = 1) { return {RunId{run}, attempt}; }
Envelope from(std::int64_t epoch, const model::WorkerKey& to = kLife) { return {Epoch{epoch}, to}; }

VoucherRules vouched() {
  VoucherRules vouchers;
  vouchers.greet();
  vouchers.extend_lease(kNow + Millis{5000});
  return vouchers;
}

model::Outcome ended(RunState state) {
  model::Outcome outcome;
  outcome.state = state;
  return outcome;
}

/// A table of a life with two slots that has seen epoch 5.
AttemptTable a_table(TableLimits limits = {.slots = 2}) {
  AttemptTable table(limits);
  table.begin_life(kLife);
  table.raise_epoch(Epoch{5});
  return table;
}

Refusal accept(AttemptTable& table, std::int64_t run, const Envelope& envelope = from(5)) {
  return table.accept(envelope, key(run), vouched(), kNow).refusal;
}

void finish_and_bury(AttemptTable& table, std::int64_t run, MonoTime when = kNow) {
  CHECK(table.accept(from(5), key(run), vouched(), kNow).refusal == Refusal::None);
  CHECK(table.finished(key(run), ended(RunState::Succeeded)));
  CHECK(table.acknowledged(key(run), when));
}

}  // namespace

TEST_CASE("attempt_table: accepts a new attempt once and says accepted again to a repeat") {
  AttemptTable table = a_table();
  const auto first = table.accept(from(5), key(1), vouched(), kNow);
  CHECK(first.refusal == Refusal::None);
  CHECK(first.is_new);
  const auto again = table.accept(from(5), key(1), vouched(), kNow);
  CHECK(again.refusal == Refusal::None);
  CHECK_FALSE(again.is_new);
  CHECK(table.busy() == 1);
  // Also when it runs, has ended, draining began or the slots are full meanwhile.
  table.set_draining(true);
  CHECK(table.started(key(1), wall_from_ms(7)));
  CHECK(accept(table, 1) == Refusal::None);
  CHECK(table.finished(key(1), ended(RunState::Failed)));
  CHECK(accept(table, 1) == Refusal::None);
  CHECK(table.busy() == 0);
}

TEST_CASE("attempt_table: a full outbox refuses what is new, never a repeat of what is held") {
  AttemptTable table = a_table();
  CHECK(accept(table, 1) == Refusal::None);
  table.set_full(true);
  CHECK(accept(table, 1) == Refusal::None);
  CHECK(accept(table, 2) == Refusal::NoSlot);
  table.set_full(false);
  CHECK(accept(table, 2) == Refusal::NoSlot);  // for good in this life
  CHECK(accept(table, 3) == Refusal::None);
}

TEST_CASE("attempt_table: refuses what it must") {
  AttemptTable table = a_table();
  SUBCASE("an older epoch, whatever life it names") {
    CHECK(accept(table, 1, from(4)) == Refusal::OldEpoch);
    CHECK(accept(table, 1, from(4, {"w1", "bb"})) == Refusal::OldEpoch);
  }
  SUBCASE("another life, or another worker") {
    CHECK(accept(table, 1, from(5, {"w1", "bb"})) == Refusal::WrongLife);
    CHECK(accept(table, 1, from(9, {"w2", "aa"})) == Refusal::WrongLife);
    CHECK(table.highest_epoch() == Epoch{5});
  }
  SUBCASE("without a voucher, and at the very moment of its end") {
    CHECK(table.accept(from(5), key(1), {}, kNow).refusal == Refusal::NoVoucher);
    CHECK(table.accept(from(5), key(1), vouched(), kNow + Millis{5000}).refusal ==
          Refusal::NoVoucher);
    CHECK(table.accept(from(5), key(2), vouched(), kNow + Millis{4999}).refusal == Refusal::None);
  }
  SUBCASE("while draining") {
    table.set_draining(true);
    CHECK(accept(table, 1) == Refusal::Draining);
    table.set_draining(false);
    CHECK(accept(table, 1) == Refusal::Draining);  // for good: a late copy starts nothing
    CHECK(accept(table, 2) == Refusal::None);
  }
  SUBCASE("more than its slots") {
    CHECK(accept(table, 1) == Refusal::None);
    CHECK(accept(table, 2) == Refusal::None);
    CHECK(accept(table, 3) == Refusal::NoSlot);
    CHECK(table.finished(key(1), ended(RunState::Succeeded)));
    CHECK(accept(table, 3) == Refusal::NoSlot);  // for good: a late copy starts nothing
    CHECK(accept(table, 4) == Refusal::None);
  }
  SUBCASE("what ended here before") {
    finish_and_bury(table, 1);
    CHECK(accept(table, 1) == Refusal::Tombstoned);
    CHECK(table.accept(from(5), key(1, 2), vouched(), kNow).refusal == Refusal::None);
  }
}

TEST_CASE("attempt_table: keeps the highest epoch") {
  AttemptTable table = a_table();
  CHECK_FALSE(table.raise_epoch(Epoch{5}));
  CHECK_FALSE(table.raise_epoch(Epoch{3}));
  CHECK(accept(table, 1, from(8)) == Refusal::None);
  CHECK(table.highest_epoch() == Epoch{8});
  CHECK(accept(table, 2, from(7)) == Refusal::OldEpoch);
}

TEST_CASE("attempt_table: goes from accepted to a tombstone, each step once") {
  AttemptTable table = a_table();
  CHECK_FALSE(table.started(key(1), {}));
  CHECK_FALSE(table.finished(key(1), {}));
  CHECK(accept(table, 1) == Refusal::None);
  CHECK_FALSE(table.acknowledged(key(1), kNow));
  CHECK(table.started(key(1), wall_from_ms(7)));
  CHECK_FALSE(table.started(key(1), wall_from_ms(8)));
  CHECK_FALSE(table.withdraw(key(1)));
  CHECK(table.finished(key(1), ended(RunState::Failed)));
  CHECK_FALSE(table.finished(key(1), ended(RunState::Succeeded)));
  CHECK(table.find(key(1))->outcome.state == RunState::Failed);
  CHECK(table.acknowledged(key(1), kNow));
  CHECK_FALSE(table.acknowledged(key(1), kNow));
  CHECK(table.find(key(1)) == nullptr);
}

TEST_CASE("attempt_table: what could not be tried holds no slot, and is refused for good") {
  AttemptTable table = a_table();
  CHECK(accept(table, 1) == Refusal::None);
  CHECK(table.withdraw(key(1)));
  CHECK(table.busy() == 0);
  CHECK(table.inventory().attempts.empty());
  CHECK(table.accept(from(5), key(1), vouched(), kNow).refusal == Refusal::NoSlot);
}

TEST_CASE("attempt_table: a slot whose attempt is not proven dead is never used again") {
  AttemptTable table = a_table();
  CHECK(accept(table, 1) == Refusal::None);
  CHECK(table.finished(key(1), ended(RunState::KillFailed)));
  CHECK(table.acknowledged(key(1), kNow));
  CHECK(table.free_slots() == 1);
  CHECK(accept(table, 2) == Refusal::None);
  CHECK(accept(table, 3) == Refusal::NoSlot);
}

TEST_CASE("attempt_table: an attempt of which only the cleanup failed gives its slot back") {
  AttemptTable table = a_table();
  CHECK(accept(table, 1) == Refusal::None);
  auto outcome = ended(RunState::KillFailed);
  outcome.reason = model::Reason::CleanupFailed;
  CHECK(table.finished(key(1), outcome));
  CHECK(table.free_slots() == 2);
  AttemptTable next = a_table();
  CHECK(next.adopt({key(1), {}, TableEntry::State::Finished, WallTime{}, outcome}));
  CHECK(next.free_slots() == 2);
}

TEST_CASE("attempt_table: what the runner may not take is refused for good") {
  AttemptTable table = a_table();
  CHECK(table.refuse(key(1), Refusal::NoSlot) == Refusal::NoSlot);
  CHECK(accept(table, 1) == Refusal::NoSlot);
  CHECK(accept(table, 2) == Refusal::None);
}

TEST_CASE("attempt_table: bounds its tombstones by age and number") {
  AttemptTable table = a_table({.slots = 2, .tombstone_age = Millis{1000}, .tombstones = 3});
  for (int run = 1; run <= 4; ++run) finish_and_bury(table, run, kNow + Millis{run});
  CHECK(table.tombstone_count() == 3);
  CHECK(accept(table, 1) == Refusal::None);  // the oldest had to make room
  CHECK(accept(table, 2) == Refusal::Tombstoned);
  CHECK(table.accept(from(5), key(2), vouched(), kNow + Millis{1002}).refusal == Refusal::None);
  table.expire(kNow + Millis{1003});
  CHECK(table.tombstone_count() == 1);
}

TEST_CASE("attempt_table: a new life refuses the old one's dispatches and keeps what is held") {
  AttemptTable table = a_table();
  CHECK(accept(table, 1) == Refusal::None);
  finish_and_bury(table, 2);
  table.begin_life({"w1", "bb"});
  CHECK(accept(table, 3) == Refusal::WrongLife);
  CHECK(table.tombstone_count() == 0);
  CHECK(table.find(key(1))->life == kLife);
  CHECK(table.inventory().worker.incarnation == "bb");
  CHECK(accept(table, 1, from(5, {"w1", "bb"})) == Refusal::None);
}

TEST_CASE("attempt_table: adopts what an earlier start left") {
  AttemptTable table = a_table();
  const model::WorkerKey old{"w1", "00"};
  CHECK(table.adopt({key(1), old, TableEntry::State::Running, wall_from_ms(5), {}}));
  CHECK(table.adopt({key(2), old, TableEntry::State::Finished, {}, ended(RunState::Failed)}));
  CHECK_FALSE(table.adopt({key(2), old, TableEntry::State::Running, {}, {}}));
  CHECK(table.busy() == 1);
  CHECK(accept(table, 1) == Refusal::None);
  const auto inventory = table.inventory();
  REQUIRE(inventory.attempts.size() == 2);
  CHECK(inventory.attempts[0].state == model::HeldAttempt::State::Running);
  CHECK(inventory.attempts[0].started == wall_from_ms(5));
  CHECK(inventory.attempts[1].state == model::HeldAttempt::State::Finished);
  CHECK(inventory.attempts[1].outcome.state == RunState::Failed);
}

TEST_CASE("attempt_table: an inventory names running, finished and the newest tombstones") {
  AttemptTable table = a_table({.slots = 9, .told_tombstones = 2});
  for (int run = 1; run <= 3; ++run) finish_and_bury(table, run);
  CHECK(accept(table, 4) == Refusal::None);
  const auto inventory = table.inventory();
  CHECK(inventory.highest_epoch == Epoch{5});
  REQUIRE(inventory.attempts.size() == 3);
  CHECK(inventory.attempts[0].key == key(4));
  CHECK(inventory.attempts[1].key == key(2));
  CHECK(inventory.attempts[2].key == key(3));
  CHECK(inventory.attempts[2].state == model::HeldAttempt::State::Tombstone);
}

TEST_CASE("attempt_table: the sums of what it holds never exceed its slots, nor what it offers") {
  AttemptTable table = a_table({.slots = 4, .offers = {{"memory", 10}, {"gpu", 1}}});
  const auto take = [&](std::int64_t run, model::Demand demand) {
    return table.accept(from(5), key(run), vouched(), kNow, demand).refusal;
  };
  CHECK(take(1, {2, {{"memory", 6}}}) == Refusal::None);
  CHECK(take(2, {3, {}}) == Refusal::NoSlot);
  CHECK(take(3, {1, {{"memory", 5}}}) == Refusal::NoSlot);
  CHECK(take(4, {1, {{"licence", 1}}}) == Refusal::NoSlot);
  CHECK(table.lacking({3, {}}) == "slots: 3 needed, 2 free");
  CHECK(table.lacking({1, {{"memory", 5}}}) == "memory: 5 needed, 4 free");
  CHECK(take(5, {2, {{"memory", 4}, {"gpu", 1}}}) == Refusal::None);
  CHECK(take(6, {}) == Refusal::NoSlot);
  CHECK(table.busy() == 2);
  CHECK(table.used_slots() == 4);
  CHECK(take(3, {}) == Refusal::NoSlot);  // final, whatever a late copy asks for
  CHECK(table.finished(key(1), ended(RunState::Succeeded)));
  CHECK(take(7, {2, {{"memory", 6}}}) == Refusal::None);
  CHECK(table.withdraw(key(7)));
  CHECK(table.free_slots() == 2);
  CHECK(table.free_of("memory") == 6);
}

TEST_CASE("attempt_table: what was not proven dead keeps all that it took, also over a restart") {
  AttemptTable table = a_table({.slots = 4, .offers = {{"memory", 10}}});
  const model::Demand demand{3, {{"memory", 7}}};
  CHECK(table.accept(from(5), key(1), vouched(), kNow, demand).refusal == Refusal::None);
  CHECK(table.finished(key(1), ended(RunState::KillFailed)));
  CHECK(table.free_slots() == 1);
  CHECK(table.free_of("memory") == 3);
  AttemptTable again = a_table({.slots = 4, .offers = {{"memory", 10}}});
  CHECK(again.adopt({key(1), kLife, TableEntry::State::Finished, {}, ended(RunState::KillFailed)}));
  CHECK(again.free_slots() == 3);         // until its warden has said what it took
  again.set_demand(key(1), demand);
  CHECK(again.free_slots() == 1);
  CHECK(again.free_of("memory") == 3);
  CHECK(again.adopt({key(2), kLife, TableEntry::State::Running, {}, {}, {1, {{"memory", 3}}}}));
  CHECK(again.free_slots() == 0);
  CHECK(again.finished(key(2), ended(RunState::Succeeded)));
  again.set_demand(key(2), demand);       // it is over, and takes nothing
  CHECK(again.free_of("memory") == 3);
}

}  // namespace rota::worker::desk
