#include <doctest/doctest.h>
#include <zlib.h>

#include "api_setup.h"

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

TEST_CASE("append_log: the rest of an output that retention deleted is not sent for ever") {
  Stored stored({a_run(5, model::RunState::Succeeded)});
  TestMaster master(stored.memory, false);
  auto rest = a_chunk("rest");
  rest.offset = 1000;
  CHECK(*append(master, {rest}) == std::vector<std::int64_t>{0});
  REQUIRE(stored.memory.note_pruned({RunId{5}}, wall_from_ms(1)));
  CHECK(*append(master, {rest}) == std::vector<std::int64_t>{1004});
}

}  // namespace rota::master::api::test
