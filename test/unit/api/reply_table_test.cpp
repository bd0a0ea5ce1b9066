#include "master/api/reply_table.h"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

namespace rota::master::api {
namespace {

MonoTime in(Millis time) { return BootClock::now() + time; }

}  // namespace

TEST_CASE("reply_table: a reply reaches who waits, also when it comes first") {
  ReplyTable table(10);
  const auto token = table.open();
  REQUIRE(token);
  std::thread loop([&] { table.reply(*token, core::Renewed{}); });
  CHECK(std::holds_alternative<core::Renewed>(table.wait(*token, in(Millis{60'000}))));
  loop.join();
  CHECK(table.open_count() == 0);
  table.reply(*token, core::Renewed{});  // too late: dropped
}

TEST_CASE("reply_table: without a reply the outcome is unknown") {
  ReplyTable table(10);
  const auto token = table.open();
  const auto body = table.wait(*token, in(Millis{20}));
  REQUIRE(std::holds_alternative<Error>(body));
  CHECK(std::get<Error>(body).code == ErrorCode::UnknownOutcome);
}

TEST_CASE("reply_table: the number of open tokens is bounded") {
  ReplyTable table(2);
  const auto first = table.open();
  REQUIRE(table.open());
  const auto third = table.open();
  REQUIRE_FALSE(third);
  CHECK(third.error().code == ErrorCode::Overloaded);
  table.forget(*first);
  CHECK(table.open());
}

TEST_CASE("reply_table: while many wait for nothing, no more thread is given away") {
  for (const bool stalled : {true, false}) {
    ReplyTable table(100, stalled ? Millis{0} : Millis{60'000});
    std::vector<std::thread> waiting;
    for (int i = 0; i < 24; ++i) {
      const auto token = table.open();
      REQUIRE(token);
      waiting.emplace_back([&table, token = *token] { (void)table.wait(token, in(Millis{60'000})); });
    }
    while (table.waits() < 24) std::this_thread::yield();
    const auto more = table.open();
    CHECK(more.has_value() != stalled);
    if (!more) CHECK(more.error().code == ErrorCode::Overloaded);
    table.close();
    for (std::thread& thread : waiting) thread.join();
  }
}

TEST_CASE("reply_table: closing ends every wait with an unknown outcome") {
  ReplyTable table(10);
  const auto token = table.open();
  std::thread closer([&] { table.close(); });
  const auto body = table.wait(*token, in(Millis{60'000}));
  closer.join();
  REQUIRE(std::holds_alternative<Error>(body));
  CHECK(std::get<Error>(body).code == ErrorCode::UnknownOutcome);
  CHECK_FALSE(table.open());
}

}  // namespace rota::master::api
