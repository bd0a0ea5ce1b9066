#include <doctest/doctest.h>
#include <zlib.h>

#include "api_setup.h"
#include "master/api/log_intake.h"

namespace rota::master::api::test {
namespace {

thrift::LogChunk a_chunk(const std::string& bytes) {
  thrift::LogChunk out;
  out.attempt.run = 5;
  out.attempt.attempt = 1;
  out.stream = 1;
  out.bytes = bytes;
  out.crc32 = static_cast<std::int64_t>(
      ::crc32(0, reinterpret_cast<const unsigned char*>(bytes.data()),
              static_cast<unsigned>(bytes.size())));
  return out;
}

rpc::CallResult<std::vector<std::int64_t>> append(TestMaster& master,
                                                  const std::vector<thrift::LogChunk>& chunks) {
  return master.tell([&](auto& client) {
    std::vector<std::int64_t> out;
    client.append_log(out, chunks);
    return out;
  });
}

}  // namespace

TEST_CASE("report: is acknowledged with what the loop took, a malformed one stays away") {
  Stored stored;
  TestMaster master(stored.memory);
  master.leader.script = [](const core::Event& event) -> std::optional<core::ReplyBody> {
    core::ReportsTaken out;
    for (const auto& report : std::get<core::Reported>(event).reports) out.taken.push_back(report.key);
    return out;
  };
  thrift::ReportRequest request;
  request.worker.id = "w1";
  request.worker.incarnation = "life";
  thrift::Report good;
  good.attempt.run = 5;
  good.attempt.attempt = 1;
  good.what = "finished";
  thrift::Outcome outcome;
  outcome.state = "succeeded";
  good.__set_outcome(outcome);
  thrift::Report wrong = good;
  wrong.attempt.run = 6;
  wrong.outcome.state = "running";
  request.reports = {wrong, good};
  const auto taken = master.tell([&](auto& client) {
    std::vector<thrift::AttemptKey> out;
    client.report(out, request);
    return out;
  });
  REQUIRE(taken);
  REQUIRE(taken->size() == 1);
  CHECK(taken->front().run == 5);
  CHECK(master.leader.posted_of<core::Reported>().at(0).worker == model::WorkerKey{"w1", "life"});
}

TEST_CASE("report: nothing is acknowledged when the loop does not store it") {
  Stored stored;
  TestMaster master(stored.memory);
  master.leader.script = [](const core::Event&) {
    return Error(ErrorCode::NotLeader, "the Term is over");
  };
  const auto taken = master.tell([](auto& client) {
    std::vector<thrift::AttemptKey> out;
    client.report(out, {});
    return out;
  });
  REQUIRE_FALSE(taken);
  CHECK(taken.error().error.code == ErrorCode::NotLeader);
}

TEST_CASE("append_log: any master takes chunks, and refuses what is none") {
  Stored stored({a_run(5, model::RunState::Running)});
  TestMaster master(stored.memory, false);
  const auto ends = append(master, {a_chunk("hello")});
  REQUIRE(ends);
  CHECK(*ends == std::vector<std::int64_t>{5});
  CHECK(*append(master, {a_chunk("hello")}) == std::vector<std::int64_t>{5});
  auto wrong = a_chunk("x");
  wrong.stream = 3;
  CHECK(append(master, {wrong}).error().error.code == ErrorCode::InvalidArgument);
  CHECK(append(master, {a_chunk(std::string((64u << 10) + 1, 'x'))}).error().error.code ==
        ErrorCode::InvalidArgument);
  wrong = a_chunk("x");
  wrong.crc32 ^= 1;
  CHECK(append(master, {wrong}).error().error.code == ErrorCode::Corrupt);
}

TEST_CASE("append_log: the rest of an output that retention deleted is not sent forever") {
  Stored stored({a_run(5, model::RunState::Succeeded)});
  TestMaster master(stored.memory, false);
  auto rest = a_chunk("rest");
  rest.offset = 1000;
  CHECK(*append(master, {rest}) == std::vector<std::int64_t>{0});
  REQUIRE(stored.memory.note_pruned({RunId{5}}, wall_from_ms(1)));
  CHECK(*append(master, {rest}) == std::vector<std::int64_t>{1004});
}

TEST_CASE("append_log: output of a run that does not exist is refused, with all of its call") {
  Stored stored({a_run(5, model::RunState::Running)});
  TestMaster master(stored.memory, false);
  auto forged = a_chunk("forged");
  forged.attempt.run = 77;
  const auto answer = append(master, {a_chunk("hello"), forged});
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::InvalidArgument);
  CHECK(answer.error().error.message.find("run 77") != std::string::npos);
  CHECK(stored.memory.stored_of({RunId{5}, RunId{77}})->empty());
  CHECK(master.server.log_refusals().unknown_run == 1);
  CHECK(append(master, {a_chunk("hello")}));
}

TEST_CASE("append_log: the rest of a run that retention has deleted is acknowledged and not stored") {
  Stored stored({a_run(5, model::RunState::Succeeded), a_run(6, model::RunState::Running)});
  TestMaster master(stored.memory, false);
  store::PastRun gone;
  gone.run = RunId{5};
  gone.is_final = true;
  REQUIRE(stored.memory.erase_runs({gone}));
  auto late = a_chunk("late");
  late.offset = 1000;
  auto living = a_chunk("hello");
  living.attempt.run = 6;
  CHECK(*append(master, {late, living}) == std::vector<std::int64_t>{1004, 5});
  CHECK(stored.memory.stored_of({RunId{5}})->empty());
  CHECK(master.server.log_refusals().no_longer_kept == 1);
  CHECK(master.server.log_refusals().unknown_run == 0);
}

TEST_CASE("append_log: a run that was seen is believed for a minute, and looked up again then") {
  Stored stored({a_run(5, model::RunState::Succeeded)});
  LogIntake intake(stored.memory, stored.memory, stored.clock);
  store::LogChunk chunk;
  chunk.attempt = {RunId{5}, 1};
  chunk.bytes = "x";
  chunk.crc32 = static_cast<std::uint32_t>(a_chunk("x").crc32);
  CHECK(intake.append({}, {chunk}));
  store::PastRun gone;
  gone.run = RunId{5};
  gone.is_final = true;
  REQUIRE(stored.memory.erase_runs({gone}));
  CHECK(intake.refusals().no_longer_kept == 0);
  stored.clock.advance(std::chrono::seconds{61});
  CHECK(intake.append({}, {chunk}));
  CHECK(intake.refusals().no_longer_kept == 1);
}

TEST_CASE("append_log: output out of all reach is refused by name, what a restored database lacks is not") {
  Stored stored({a_run(5, model::RunState::Running)});
  TestMaster master(stored.memory, false);
  auto chunk = a_chunk("x");
  for (const std::int64_t offset : {INT64_MAX, std::int64_t{1} << 62, kMostBytesMissing + 1}) {
    chunk.offset = offset;
    const auto answer = append(master, {chunk});
    REQUIRE_FALSE(answer);
    CHECK(answer.error().error.code == ErrorCode::InvalidArgument);
    CHECK(answer.error().error.message.find(std::to_string(offset)) != std::string::npos);
  }
  CHECK(master.server.log_refusals().impossible_place == 3);
  CHECK(stored.memory.stored_of({RunId{5}})->empty());
  chunk.offset = std::int64_t{64} << 30;
  CHECK(*append(master, {chunk}) == std::vector<std::int64_t>{0});
  chunk.offset = kMostBytesMissing + (std::int64_t{9} << 40);  // a flood, of which the head was kept
  chunk.dropped_before = std::int64_t{9} << 40;
  CHECK(append(master, {chunk}));
}

TEST_CASE("append_log: other content under a stored key is refused with an alarm") {
  Stored stored({a_run(5, model::RunState::Running)});
  TestMaster master(stored.memory, false);
  REQUIRE(append(master, {a_chunk("hello")}));
  CHECK(master.server.log_refusals().alarm.empty());
  const auto answer = append(master, {a_chunk("HELLO")});
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::Corrupt);  // what workers of any version take for final
  CHECK(master.server.log_refusals().other_content == 1);
  CHECK(master.server.log_refusals().alarm.find("run 5 attempt 1 at 0") != std::string::npos);
  CHECK(stored.memory.read({RunId{5}, 1}, store::LogStream::Out, 0, 10)->bytes == "hello");
  master.clock.advance(std::chrono::hours{2});
  CHECK(master.server.log_refusals().alarm.empty());
  CHECK(master.server.log_refusals().other_content == 1);
}

TEST_CASE("append_log: a database that does not answer makes no run unknown") {
  Stored stored;
  store::MemoryStore logs;  // the folder, which needs no database
  LogIntake intake(stored.memory, logs, stored.clock);
  stored.memory.set_down(true);
  store::LogChunk chunk;
  chunk.attempt = {RunId{5}, 1};
  chunk.bytes = "x";
  chunk.crc32 = static_cast<std::uint32_t>(a_chunk("x").crc32);
  CHECK(intake.append({}, {chunk}));
  stored.memory.set_down(false);
  CHECK_FALSE(intake.append({}, {chunk}));
}

}  // namespace rota::master::api::test
