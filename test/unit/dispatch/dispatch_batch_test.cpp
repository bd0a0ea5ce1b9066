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

DefinitionCache::Definition a_work(std::size_t script_bytes = 0, char letter = 's') {
  model::JobDefinition definition;
  definition.name = std::string(1, 'n');
  definition.work.script = std::string(script_bytes, letter);
  definition.work.parameters = {{"a", "job"}, {"b", "job"}};
  return std::make_shared<const ReadyWork>(make_ready(definition));
}

std::vector<Piece> some_pieces(int count, const DefinitionCache::Definition& work) {
  std::vector<Piece> out;
  for (int i = 1; i <= count; ++i) out.push_back(make_piece(an_item(i), work));
  return out;
}

std::vector<thrift::DispatchItem> some_items(int count) {
  std::vector<Piece> pieces = some_pieces(count, a_work());
  std::size_t next = 0;
  return pack(pieces, next, {}, nullptr).request.items;
}

std::vector<Part> pack_all(std::vector<Piece> pieces, const LifeWorks* life = nullptr) {
  std::vector<Part> out;
  for (std::size_t next = 0; next < pieces.size();) out.push_back(pack(pieces, next, {}, life));
  return out;
}

rpc::CallError an_error(ErrorCode code, bool answered) {
  return {Error(code, "why"), {}, Millis{0}, false, answered};
}

}  // namespace

TEST_CASE("pack: the run's parameters lie over the job's, and go once") {
  core::DispatchItem item = an_item(5);
  item.tick = wall_from_ms(77);
  item.timeout = Millis{9};
  item.parameters =
      std::make_shared<const model::Parameters>(model::Parameters{{"b", "run"}, {"c", "run"}});
  std::vector<Piece> pieces = {make_piece(item, a_work())};
  std::size_t next = 0;
  const auto made = pack(pieces, next, {}, nullptr).request.items.at(0);
  CHECK(made.parameters == model::Parameters{{"a", "job"}, {"b", "run"}, {"c", "run"}});
  CHECK(made.__isset.work);
  CHECK(made.work.parameters.empty());
  CHECK_FALSE(made.__isset.shared);
  CHECK(made.tick_ms == 77);
  CHECK(made.timeout_ms == 9);
  CHECK(made.job_name == "n");
}

TEST_CASE("pack: by number and by bytes; an attempt that is too large goes alone") {
  const auto by_number = pack_all(some_pieces(1201, a_work()));
  REQUIRE(by_number.size() == 3);
  CHECK(by_number[0].request.items.size() == 500);
  CHECK(by_number[2].request.items.size() == 201);
  CHECK(pack_all(some_pieces(100, a_work(100'000))).size() == 4);
  CHECK(pack_all(some_pieces(2, a_work(4u << 20))).size() == 2);
  CHECK(pack_all({}).empty());
}

TEST_CASE("pack: a life that keeps works is sent each of them once, and attempts name it") {
  LifeWorks life(10, 1u << 20);
  std::vector<Piece> pieces = some_pieces(3, a_work(100, 'x'));
  pieces.push_back(make_piece(an_item(4), a_work(100, 'y')));
  std::size_t next = 0;
  const Part first = pack(pieces, next, {}, &life);
  REQUIRE(first.request.works.size() == 2);
  CHECK(first.request.__isset.works);
  CHECK(first.request.works[0].__isset.work);
  CHECK(first.request.works[0].hash.size() == 32);
  CHECK(first.request.works[0].hash != first.request.works[1].hash);
  CHECK(first.request.works[1].work.script == std::string(100, 'y'));
  CHECK(first.request.items[2].shared == 0);
  CHECK(first.request.items[3].shared == 1);
  CHECK_FALSE(first.request.items[3].__isset.work);
  for (const auto& work : first.works) life.learned(work->hash, work->weight);

  const auto later = pack_all(some_pieces(1, a_work(100, 'x')), &life);
  REQUIRE(later[0].request.works.size() == 1);
  CHECK_FALSE(later[0].request.works[0].__isset.work);
  CHECK(later[0].request.works[0].hash == first.request.works[0].hash);
}

TEST_CASE("pack: what a call carries only once counts once, and what is too large to be kept goes whole") {
  LifeWorks life(10, 1u << 20);
  CHECK(pack_all(some_pieces(100, a_work(100'000)), &life).size() == 1);
  const auto large = pack_all(some_pieces(2, a_work(300'000)), &life);
  CHECK(large[0].request.works.empty());
  CHECK(large[0].request.items[1].__isset.work);
}

TEST_CASE("take_unknown: these attempts go again, the others keep their answers") {
  LifeWorks life(10, 1u << 20);
  std::vector<Piece> pieces = some_pieces(2, a_work(10, 'x'));
  pieces.push_back(make_piece(an_item(3), a_work(10, 'y')));
  std::size_t next = 0;
  Part part = pack(pieces, next, {}, &life);
  const std::vector<thrift::DispatchAnswer> answers = {
      wire::dispatch_answer({RunId{1}, 1}, model::Refusal::None, ""),
      wire::dispatch_answer({RunId{2}, 1}, model::Refusal::NoSlot, ""),
      wire::unknown_work_answer(part.request.items[2].attempt)};
  std::vector<Piece> again = take_unknown(part, answers);
  REQUIRE(again.size() == 1);
  CHECK(again[0].item.attempt.run == 3);
  CHECK(again[0].work->work.script == "yyyyyyyyyy");
  CHECK(part.request.items.size() == 2);
  next = 0;
  const Part whole = pack(again, next, {}, nullptr);
  CHECK_FALSE(whole.request.items[0].__isset.shared);
  CHECK(whole.request.items[0].work.script == "yyyyyyyyyy");
}

TEST_CASE("read_answers: a worker that knows no work even then decides nothing") {
  const auto items = some_items(1);
  const auto verdicts = read_answers(items, {wire::unknown_work_answer(items[0].attempt)});
  CHECK(verdicts.at(0).kind == Kind::Unknown);
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
