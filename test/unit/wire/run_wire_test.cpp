#include <doctest/doctest.h>

#include "common/wire/run_wire.h"
#include "common/wire/worker_wire.h"

namespace rota::wire {
namespace {

model::Outcome an_outcome() {
  model::Outcome out;
  out.state = model::RunState::TimedOut;
  out.reason = model::Reason::AttemptTimeout;
  out.exit_status = 3;
  out.signal = 9;
  out.message = "too slow";
  out.result = std::string("\0\xFF", 2);
  out.started = wall_from_ms(100);
  out.ended = wall_from_ms(200);
  out.stdout_bytes = 5;
  out.stderr_bytes = 6;
  out.cpu_us = 7;
  out.peak_memory_bytes = 8;
  out.read_bytes = 9;
  out.written_bytes = 10;
  out.stood_still = model::StoodStill{wall_from_ms(1500), wall_from_ms(4500)};
  return out;
}

}  // namespace

TEST_CASE("outcome: survives the way over the wire") {
  const auto back = from_wire(to_wire(an_outcome()));
  REQUIRE(back);
  CHECK(*back == an_outcome());
}

TEST_CASE("outcome: a cost that is not known stays so, and one of nothing stays 0") {
  model::Outcome outcome = an_outcome();
  outcome.cpu_us = 0;
  outcome.peak_memory_bytes.reset();
  const thrift::Outcome sent = to_wire(outcome);
  CHECK(is_known(sent, kCpuUnknown));
  CHECK_FALSE(is_known(sent, kMemoryUnknown));
  CHECK(*from_wire(sent) == outcome);
  outcome.cpu_us.reset();
  outcome.read_bytes.reset();
  outcome.written_bytes.reset();
  CHECK(*from_wire(to_wire(outcome)) == outcome);
  CHECK_FALSE(to_wire(an_outcome()).__isset.unknown_costs);
}

TEST_CASE("outcome: what is no outcome is refused") {
  const auto spoiled = [](auto spoil) {
    thrift::Outcome out = to_wire(an_outcome());
    spoil(out);
    return from_wire(out).has_value();
  };
  CHECK_FALSE(spoiled([](auto& out) { out.state = "running"; }));
  CHECK_FALSE(spoiled([](auto& out) { out.state = "great"; }));
  CHECK_FALSE(spoiled([](auto& out) { out.state = "skipped"; }));  // a run's end, never an attempt's
  CHECK_FALSE(spoiled([](auto& out) { out.exit_status = 256; }));
  CHECK_FALSE(spoiled([](auto& out) { out.stdout_bytes = -1; }));
  CHECK_FALSE(spoiled([](auto& out) { out.result = std::string((64u << 10) + 1, 'x'); }));
  CHECK(spoiled([](auto& out) { out.reason = "of_a_newer_worker"; }));
}

TEST_CASE("outcome: a long message is cut between characters") {
  thrift::Outcome out = to_wire(an_outcome());
  out.message = "x";
  for (int i = 0; i < 3000; ++i) out.message += "\xC3\xA9";
  const auto back = from_wire(out);
  REQUIRE(back);
  CHECK(back->message.size() <= kMaxMessageBytes);
  CHECK(back->message.size() >= kMaxMessageBytes - 2);
  CHECK(back->message.back() == '\xA9');
}

TEST_CASE("run: survives the way over the wire") {
  model::Run run;
  run.id = RunId{(std::int64_t{3} << 40) + 1};
  run.job = JobId{kOneOffBit | 5};
  run.version = 2;
  run.kind = model::RunKind::Manual;
  run.tick = wall_from_ms(10);
  run.scheduled = wall_from_ms(11);
  run.recorded = wall_from_ms(12);
  run.request_key = "k";
  run.parameters = std::make_shared<const model::Parameters>(model::Parameters{{"a", "b"}});
  run.progress.state = model::RunState::TimedOut;
  run.progress.reason = model::Reason::AttemptTimeout;
  run.progress.detail = "d";
  run.progress.attempt = 4;
  run.progress.worker = {"w", "i"};
  run.progress.epoch = Epoch{3};
  run.progress.dispatched = wall_from_ms(13);
  run.progress.started = wall_from_ms(14);
  run.progress.ended = wall_from_ms(15);
  run.progress.not_before = wall_from_ms(16);
  run.progress.cancel_asked = true;
  run.progress.outcome = an_outcome();
  const auto wired = to_wire(run, "job");
  CHECK(wired.job_name == "job");
  const auto back = from_wire(wired);
  REQUIRE(back);
  CHECK(back->id == run.id);
  CHECK(back->job == run.job);
  CHECK(back->kind == run.kind);
  CHECK(back->tick == run.tick);
  CHECK(*back->parameters == *run.parameters);
  CHECK(back->progress.state == run.progress.state);
  CHECK(back->progress.worker == run.progress.worker);
  CHECK(back->progress.not_before == run.progress.not_before);
  CHECK(back->progress.outcome == run.progress.outcome);
}

TEST_CASE("inventory: survives the way over the wire") {
  model::Inventory inventory;
  inventory.worker = {"w", "i"};
  inventory.highest_epoch = Epoch{9};
  inventory.attempts.push_back({{RunId{1}, 1}, model::HeldAttempt::State::Running, wall_from_ms(1), {}});
  inventory.attempts.push_back(
      {{RunId{2}, 3}, model::HeldAttempt::State::Finished, wall_from_ms(2), an_outcome()});
  inventory.attempts.push_back(
      {{RunId{4}, 1}, model::HeldAttempt::State::Tombstone, wall_from_ms(0), {}});
  CHECK_FALSE(from_wire(to_wire(inventory))->drain.has_value());
  inventory.drain = model::DrainAck{true, false, 77};
  const auto back = from_wire(to_wire(inventory));
  REQUIRE(back);
  CHECK(back->drain == inventory.drain);
  CHECK(back->worker == inventory.worker);
  CHECK(back->highest_epoch == inventory.highest_epoch);
  REQUIRE(back->attempts.size() == 3);
  CHECK(back->attempts[1].key == inventory.attempts[1].key);
  CHECK(back->attempts[1].outcome == an_outcome());
  CHECK(back->attempts[2].state == model::HeldAttempt::State::Tombstone);
  auto wrong = to_wire(inventory);
  wrong.attempts[0].state = "asleep";
  CHECK_FALSE(from_wire(wrong));
  wrong = to_wire(inventory);
  wrong.highest_epoch = std::int64_t{1} << 22;  // it would end every Term
  CHECK_FALSE(from_wire(wrong));
  wrong.highest_epoch = -1;
  CHECK_FALSE(from_wire(wrong));
}

TEST_CASE("report: a note travels with either, and a bad one costs no outcome") {
  model::AttemptReport report;
  report.key = {RunId{7}, 2};
  report.worker = {"w", "i"};
  report.what = model::AttemptReport::What::Finished;
  report.outcome = an_outcome();
  CHECK_FALSE(from_wire(to_wire(report))->note);
  report.note = model::RunNote{};
  report.note->said = wall_from_ms(9);
  report.note->percent = 40;
  report.note->text = "half";
  report.note->checkpoint = std::string("a\0b", 3);
  auto line = to_wire(report);
  auto back = from_wire(line);
  REQUIRE(back);
  REQUIRE(back->note);
  CHECK(back->note->run == RunId{7});
  CHECK(back->note->attempt == 2);
  CHECK(back->note->said == wall_from_ms(9));
  CHECK(back->note->percent == 40);
  CHECK(back->note->text == "half");
  CHECK(back->note->checkpoint == report.note->checkpoint);
  line.note.checkpoint = std::string(kMaxCheckpointBytes + 1, 'x');
  line.note.percent = 400;
  line.note.text = std::string(500, 't');
  back = from_wire(line);
  REQUIRE(back);
  CHECK(back->outcome == report.outcome);
  CHECK_FALSE(back->note->checkpoint);
  CHECK(back->note->percent == 100);
  CHECK(back->note->text.size() == kMaxProgressBytes);
}

TEST_CASE("report: started and finished are read, the rest is refused") {
  model::AttemptReport report;
  report.key = {RunId{7}, 2};
  report.worker = {"w", "i"};
  report.what = model::AttemptReport::What::Finished;
  report.started = wall_from_ms(5);
  report.outcome = an_outcome();
  const auto back = from_wire(to_wire(report));
  REQUIRE(back);
  CHECK(back->key == report.key);
  CHECK(back->what == report.what);
  CHECK(back->outcome == report.outcome);
  auto wrong = to_wire(report);
  wrong.what = "paused";
  CHECK_FALSE(from_wire(wrong));
  wrong = to_wire(report);
  wrong.attempt.run = 0;
  CHECK_FALSE(from_wire(wrong));
  wrong = to_wire(report);
  wrong.worker.id = std::string(65, 'w');
  CHECK_FALSE(from_wire(wrong));
  wrong = to_wire(report);
  wrong.worker.incarnation = "\xFF";
  CHECK_FALSE(from_wire(wrong));
}

TEST_CASE("refusal: an unknown one is malformed, an accepted one is none") {
  const auto no_slot = dispatch_answer({RunId{1}, 1}, model::Refusal::NoSlot, "full");
  CHECK_FALSE(no_slot.accepted);
  CHECK(refusal_of(no_slot) == model::Refusal::NoSlot);
  thrift::DispatchAnswer strange;
  strange.refusal = "too_tired";
  CHECK(refusal_of(strange) == model::Refusal::Malformed);
  strange.refusal = "none";
  CHECK(refusal_of(strange) == model::Refusal::Malformed);
  strange.accepted = true;
  CHECK(refusal_of(strange) == model::Refusal::None);
}

}  // namespace rota::wire
