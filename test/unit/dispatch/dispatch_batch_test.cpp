#include "master/dispatch/dispatch_batch.h"

#include <doctest/doctest.h>

#include "common/wire/worker_wire.h"

namespace rota::master::dispatch {
namespace {

using Kind = core::DispatchVerdict::Kind;

core::DispatchItem an_item(std::int64_t run) {
  core::DispatchItem out;
  out.attempt = {RunId{run}, 1};
  out.job = JobId{1};
  out.version = 1;
  return out;
}

std::vector<thrift::DispatchItem> some_items(int count, std::size_t script_bytes = 0) {
  model::JobDefinition definition;
  definition.work.script = std::string(script_bytes, 's');
  std::vector<thrift::DispatchItem> out;
  for (int i = 1; i <= count; ++i) out.push_back(make_item(an_item(i), definition));
  return out;
}

rpc::CallError an_error(ErrorCode code, bool answered) {
  return {Error(code, "why"), {}, Millis{0}, false, answered};
}

}  // namespace

TEST_CASE("make_item: the run's parameters lie over the job's, and go once") {
  model::JobDefinition definition;
  definition.name = std::string(1, 'n');
  definition.work.parameters = {{"a", "job"}, {"b", "job"}};
  core::DispatchItem item = an_item(5);
  item.tick = wall_from_ms(77);
  item.timeout = Millis{9};
  item.parameters =
      std::make_shared<const model::Parameters>(model::Parameters{{"b", "run"}, {"c", "run"}});
  const auto made = make_item(item, definition);
  CHECK(made.parameters == model::Parameters{{"a", "job"}, {"b", "run"}, {"c", "run"}});
  CHECK(made.work.parameters.empty());
  CHECK(made.tick_ms == 77);
  CHECK(made.timeout_ms == 9);
  CHECK(made.job_name == "n");
}

TEST_CASE("split: by number and by bytes; an item that is too large goes alone") {
  auto by_number = split(some_items(1201), 500, 3u << 20);
  REQUIRE(by_number.size() == 3);
  CHECK(by_number[0].size() == 500);
  CHECK(by_number[2].size() == 201);
  for (const auto& part : split(some_items(100, 100'000), 500, 3u << 20)) {
    std::size_t bytes = 0;
    for (const auto& item : part) bytes += weight_of(item);
    CHECK(bytes <= 3u << 20);
  }
  CHECK(split(some_items(2, 4u << 20), 500, 3u << 20).size() == 2);
  CHECK(split({}, 500, 3u << 20).empty());
}

TEST_CASE("read_answers: a missing answer is unknown") {
  const auto items = some_items(3);
  const std::vector<thrift::DispatchAnswer> answers = {
      wire::dispatch_answer({RunId{3}, 1}, model::Refusal::NoSlot, "full"),
      wire::dispatch_answer({RunId{1}, 1}, model::Refusal::None, ""),
  };
  const auto verdicts = read_answers(items, answers);
  REQUIRE(verdicts.size() == 3);
  CHECK(verdicts[0].kind == Kind::Accepted);
  CHECK(verdicts[1].kind == Kind::Unknown);
  CHECK(verdicts[2].kind == Kind::Refused);
  CHECK(verdicts[2].refusal == model::Refusal::NoSlot);
}

TEST_CASE("verdicts_of_failure: only an answered error is a refusal") {
  const auto items = some_items(1);
  const auto one = [&](ErrorCode code, bool answered) {
    return verdicts_of_failure(items, an_error(code, answered)).front();
  };
  CHECK(one(ErrorCode::UnknownOutcome, false).kind == Kind::Unknown);
  CHECK(one(ErrorCode::Unavailable, false).kind == Kind::Unknown);
  CHECK(one(ErrorCode::Fenced, true).refusal == model::Refusal::OldEpoch);
  CHECK(one(ErrorCode::Conflict, true).refusal == model::Refusal::WrongLife);
  CHECK(one(ErrorCode::Overloaded, true).refusal == model::Refusal::NoSlot);
  CHECK(one(ErrorCode::Overloaded, false).kind == Kind::Unknown);
  CHECK(one(ErrorCode::Internal, true).kind == Kind::Unknown);
}

}  // namespace rota::master::dispatch
