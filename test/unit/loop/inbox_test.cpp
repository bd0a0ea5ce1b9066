#include "master/loop/inbox.h"

#include <doctest/doctest.h>

#include <thread>

#include "test/support/patience.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::loop;
using namespace std::chrono_literals;

namespace {

core::Event request(std::int64_t token) { return core::CancelRun{Token{token}, "t", RunId{1}, ""}; }
core::Event report() { return core::Reported{Token{1}, {"w", "i"}, {}}; }
core::Event gone() { return core::WorkerGone{{"w", "i"}}; }

}  // namespace

TEST_CASE("inbox: requests and reports are bounded, cluster state and answers are not") {
  Inbox inbox({2, 3});
  for (int i = 0; i < 3; ++i) CHECK(inbox.post(request(i)));
  CHECK(inbox.post(request(4)).error().code == ErrorCode::Overloaded);
  for (int i = 0; i < 2; ++i) CHECK(inbox.post(report()));
  CHECK(inbox.post(report()).error().code == ErrorCode::Overloaded);
  for (int i = 0; i < 100'000; ++i) REQUIRE(inbox.post(gone()));
  for (int i = 0; i < 100'000; ++i) REQUIRE(inbox.post(core::HelloFailed{}));
  CHECK(inbox.size() == 200'005);
}

TEST_CASE("inbox: a flood in one inlet leaves the others their share, order is kept within each") {
  Inbox inbox;
  for (int i = 1; i <= 1000; ++i) REQUIRE(inbox.post(request(i)));
  for (int i = 0; i < 1000; ++i) REQUIRE(inbox.post(gone()));
  REQUIRE(inbox.post(report()));
  const auto events = inbox.drain(100);
  REQUIRE(events.size() == 100);
  std::int64_t last = 0;
  int requests = 0, reports = 0;
  for (const core::Event& event : events) {
    reports += std::holds_alternative<core::Reported>(event) ? 1 : 0;
    if (!std::holds_alternative<core::CancelRun>(event)) continue;
    CHECK(token_of(event).value == ++last);
    ++requests;
  }
  CHECK(requests == 25);
  CHECK(reports == 1);
}

TEST_CASE("inbox: a single inlet may use the whole room") {
  Inbox inbox;
  for (int i = 1; i <= 50; ++i) REQUIRE(inbox.post(request(i)));
  CHECK(inbox.drain(100).size() == 50);
  CHECK(inbox.drain(100).empty());
}

TEST_CASE("inbox: closed it gives what was left and takes nothing more") {
  Inbox inbox;
  REQUIRE(inbox.post(request(1)));
  REQUIRE(inbox.post(gone()));
  CHECK(inbox.close().size() == 2);
  CHECK(inbox.post(request(2)).error().code == ErrorCode::NotLeader);
  CHECK(inbox.close().empty());
}

TEST_CASE("inbox: a post wakes the one who waits") {
  Inbox inbox;
  std::jthread producer([&] { REQUIRE(inbox.post(gone())); });
  inbox.wait(testing::kPatience, {});
  CHECK(inbox.size() == 1);
}

TEST_CASE("inbox: a stop request and closing wake too") {
  Inbox inbox;
  std::stop_source stop;
  stop.request_stop();
  inbox.wait(10s, stop.get_token());
  CHECK(inbox.close().empty());
  inbox.wait(10s, {});
}
