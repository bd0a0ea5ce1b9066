#include "master/api/log_tail.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <thread>

#include "api_setup.h"
#include "test/support/patience.h"
#include "test/support/stall_meter.h"

namespace rota::master::api::test {
namespace {

store::LogChunk chunk(std::int64_t offset, const std::string& bytes) {
  store::LogChunk out;
  out.attempt = {RunId{5}, 1};
  out.offset = offset;
  out.bytes = bytes;
  out.crc32 = static_cast<std::uint32_t>(
      ::crc32(0, reinterpret_cast<const unsigned char*>(bytes.data()),
              static_cast<unsigned>(bytes.size())));
  return out;
}

thrift::LogRequest from(std::int64_t offset, int wait_ms = 0) {
  thrift::LogRequest out;
  out.run = 5;
  out.offset = offset;
  out.wait_ms = wait_ms;
  return out;
}

MonoTime soon() { return BootClock::now() + testing::kPatience; }

struct Tail {
  explicit Tail(model::Run run) : stored({std::move(run)}) {}
  Stored stored;
  FakeClock clock;
  LogTail tail{stored.memory, stored.memory, clock, 2};
};

model::Run running() {
  model::Run out = a_run(5, model::RunState::Running);
  out.progress.attempt = 1;
  return out;
}

model::Run ended(std::int64_t bytes) {
  model::Run out = a_run(5, model::RunState::Succeeded);
  out.progress.outcome.stdout_bytes = bytes;
  return out;
}

}  // namespace

TEST_CASE("log_tail: hands out what is there, while the run goes on") {
  Tail test(running());
  REQUIRE(test.stored.memory.append({chunk(0, "hello")}));
  const auto slice = test.tail.read(from(0), soon());
  REQUIRE(slice);
  CHECK(slice->bytes == "hello");
  CHECK(slice->next_offset == 5);
  CHECK_FALSE(slice->complete);
  const auto nothing = test.tail.read(from(5), soon());
  REQUIRE(nothing);
  CHECK(nothing->bytes.empty());
}

TEST_CASE("log_tail: is complete when the outcome's length has been handed out") {
  Tail test(ended(5));
  const auto waiting = test.tail.read(from(0), soon());
  REQUIRE(waiting);
  CHECK_FALSE(waiting->complete);
  REQUIRE(test.stored.memory.append({chunk(0, "hello")}));
  const auto slice = test.tail.read(from(0), soon());
  REQUIRE(slice);
  CHECK(slice->bytes == "hello");
  CHECK(slice->complete);
  CHECK(slice->missing_bytes == 0);
}

TEST_CASE("log_tail: ten seconds after the end it names what is missing") {
  Tail test(ended(9));
  REQUIRE(test.stored.memory.append({chunk(0, "hello")}));
  auto slice = test.tail.read(from(5), soon());
  REQUIRE(slice);
  CHECK_FALSE(slice->complete);
  test.clock.advance(std::chrono::seconds{6});
  slice = test.tail.read(from(5), soon());
  REQUIRE(slice);
  CHECK(slice->complete);
  CHECK(slice->missing_bytes == 4);
}

TEST_CASE("log_tail: what retention deleted is told at once, and waited for no longer") {
  Tail test(ended(9));
  REQUIRE(test.stored.memory.note_pruned({RunId{5}}, wall_from_ms(77)));
  const auto slice = test.tail.read(from(0, 5000), soon());
  REQUIRE(slice);
  CHECK(slice->complete);
  CHECK(slice->missing_bytes == 9);
  CHECK(slice->__isset.pruned_ms);
  CHECK(slice->pruned_ms == 77);
}

TEST_CASE("log_tail: a hole is waited for, then named and passed") {
  Tail test(ended(9));
  REQUIRE(test.stored.memory.append({chunk(0, "abc"), chunk(6, "ghi")}));
  CHECK(test.tail.read(from(0), soon())->next_offset == 3);
  const auto waiting = test.tail.read(from(3), soon());
  REQUIRE(waiting);
  CHECK(waiting->next_offset == 3);
  CHECK_FALSE(waiting->complete);
  test.clock.advance(std::chrono::seconds{11});
  const auto passed = test.tail.read(from(3), soon());
  REQUIRE(passed);
  CHECK(passed->missing_bytes == 3);
  CHECK(passed->next_offset == 6);
  CHECK_FALSE(passed->complete);
  const auto rest = test.tail.read(from(6), soon());
  REQUIRE(rest);
  CHECK(rest->bytes == "ghi");
  CHECK(rest->complete);
}

TEST_CASE("log_tail: tells when each piece came") {
  Tail test(ended(5));
  auto piece = chunk(0, "hello");
  piece.received = wall_from_ms(1234);
  REQUIRE(test.stored.memory.append({piece}));
  const auto slice = test.tail.read(from(2), soon());
  REQUIRE(slice);
  REQUIRE(slice->pieces.size() == 1);
  CHECK(slice->pieces[0].offset == 2);
  CHECK(slice->pieces[0].length_bytes == 3);
  CHECK(slice->pieces[0].received_ms == 1234);
}

TEST_CASE("log_tail: waits for news, and a run's end is news") {
  Tail test(running());
  const testing::StallMeter stalls;
  const auto began = BootClock::now();
  std::thread writer([&] {
    while (BootClock::now() - began < Millis{60}) std::this_thread::yield();
    REQUIRE(test.stored.memory.append({chunk(0, "late")}));
  });
  const auto slice = test.tail.read(from(0, 10'000), soon());  // the longest there is
  writer.join();
  REQUIRE(slice);
  CHECK(slice->bytes == "late");
  CHECK(stalls.fair_since(began) < std::chrono::seconds{3});
}

TEST_CASE("log_tail: a wait ends with its time, with a stop, and is not had by too many") {
  Tail test(running());
  const testing::StallMeter stalls;
  const auto began = BootClock::now();
  REQUIRE(test.tail.read(from(0, 100), soon()));
  CHECK(BootClock::now() - began >= Millis{100});
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&] { CHECK(test.tail.read(from(0, 9000), soon())); });
  }
  test.tail.stop();
  for (auto& waiter : waiters) waiter.join();
  CHECK(stalls.fair_since(began) < std::chrono::seconds{5});
}

TEST_CASE("log_tail: refuses what it cannot read") {
  Tail test(running());
  auto wrong = from(-1);
  CHECK(test.tail.read(wrong, soon()).error().code == ErrorCode::InvalidArgument);
  wrong = from(0);
  wrong.stream = 4;
  CHECK(test.tail.read(wrong, soon()).error().code == ErrorCode::InvalidArgument);
  wrong = from(0);
  wrong.attempt = 3;
  CHECK(test.tail.read(wrong, soon()).error().code == ErrorCode::NotFound);
  wrong = from(0);
  wrong.run = 99;
  CHECK(test.tail.read(wrong, soon()).error().code == ErrorCode::NotFound);
}

TEST_CASE("log_tail: a run that never started is complete once it is final") {
  model::Run run = a_run(5, model::RunState::Cancelled);
  run.progress.attempt = 0;
  Tail test(run);
  const auto slice = test.tail.read(from(0, 5000), soon());
  REQUIRE(slice);
  CHECK(slice->complete);
}

}  // namespace rota::master::api::test
