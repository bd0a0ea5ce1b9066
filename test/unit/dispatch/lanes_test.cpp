#include "master/dispatch/lanes.h"

#include <doctest/doctest.h>

namespace rota::master::dispatch {
namespace {

const Epoch kEpoch{4};

core::SendHello hello(const std::string& worker) { return {{worker, "i"}, {"127.0.0.1", 1}}; }

core::SendDispatch dispatch(const std::string& worker, int attempts) {
  core::SendDispatch out{{worker, "i"}, {"127.0.0.1", 1}, {}};
  out.items.resize(static_cast<std::size_t>(attempts));
  return out;
}

}  // namespace

TEST_CASE("lanes: one worker's messages keep their order and go to one thread at a time") {
  Lanes lanes(100);
  std::stop_source stop;
  REQUIRE(lanes.push(kEpoch, hello("a")));
  REQUIRE(lanes.push(kEpoch, dispatch("a", 1)));
  REQUIRE(lanes.push(kEpoch, hello("b")));
  const auto first = lanes.take(stop.get_token());
  REQUIRE(first);
  CHECK(first->worker.id == "a");
  CHECK(std::holds_alternative<core::SendHello>(first->messages.front()));
  CHECK(first->messages.size() == 1);
  const auto second = lanes.take(stop.get_token());
  REQUIRE(second);
  CHECK(second->worker.id == "b");  // a's dispatch waits until a's hello is done
  lanes.done({"a", "i"});
  const auto third = lanes.take(stop.get_token());
  REQUIRE(third);
  CHECK(third->worker.id == "a");
  CHECK(std::holds_alternative<core::SendDispatch>(third->messages.front()));
}

TEST_CASE("lanes: items that wait for a busy worker go as one batch") {
  Lanes lanes(100);
  std::stop_source stop;
  REQUIRE(lanes.push(kEpoch, hello("a")));
  REQUIRE(lanes.take(stop.get_token()));
  for (int i = 0; i < 5; ++i) REQUIRE(lanes.push(kEpoch, dispatch("a", 2)));
  REQUIRE(lanes.push(kEpoch, hello("a")));
  REQUIRE(lanes.push(kEpoch, dispatch("a", 2)));
  lanes.done({"a", "i"});
  const auto batch = lanes.take(stop.get_token());
  REQUIRE(batch);
  CHECK(batch->messages.size() == 5);
}

TEST_CASE("lanes: hellos that take long leave threads for attempts") {
  Lanes lanes(100, 1);
  std::stop_source stop;
  REQUIRE(lanes.push(kEpoch, hello("a")));
  REQUIRE(lanes.push(kEpoch, hello("b")));
  REQUIRE(lanes.push(kEpoch, dispatch("c", 1)));
  CHECK(lanes.take(stop.get_token())->worker.id == "a");
  CHECK(lanes.take(stop.get_token())->worker.id == "c");  // b's hello waits for a's
  lanes.done({"a", "i"});
  CHECK(lanes.take(stop.get_token())->worker.id == "b");
  lanes.done({"c", "i"});
  lanes.done({"b", "i"});
  REQUIRE(lanes.push(kEpoch, hello("d")));
  CHECK(lanes.take(stop.get_token())->worker.id == "d");
}

TEST_CASE("lanes: a batch holds messages of one epoch") {
  Lanes lanes(100);
  std::stop_source stop;
  REQUIRE(lanes.push(Epoch{1}, dispatch("a", 1)));
  REQUIRE(lanes.push(Epoch{2}, dispatch("a", 1)));
  const auto first = lanes.take(stop.get_token());
  REQUIRE(first);
  CHECK(first->epoch == Epoch{1});
  CHECK(first->messages.size() == 1);
}

TEST_CASE("lanes: attempts that wait are bounded, hellos are not") {
  Lanes lanes(10);
  std::stop_source stop;
  REQUIRE(lanes.push(kEpoch, dispatch("a", 8)));
  CHECK_FALSE(lanes.push(kEpoch, dispatch("b", 3)));
  CHECK(lanes.push(kEpoch, hello("b")));
  REQUIRE(lanes.take(stop.get_token()));
  CHECK(lanes.push(kEpoch, dispatch("b", 10)));
}

TEST_CASE("lanes: an unreachable worker's dispatches can be taken back") {
  Lanes lanes(10);
  std::stop_source stop;
  REQUIRE(lanes.push(kEpoch, dispatch("a", 1)));
  REQUIRE(lanes.take(stop.get_token()));
  REQUIRE(lanes.push(kEpoch, dispatch("a", 4)));
  REQUIRE(lanes.push(kEpoch, hello("a")));
  REQUIRE(lanes.push(kEpoch, dispatch("a", 5)));
  CHECK(lanes.pop_dispatches({"a", "i"}).size() == 2);
  lanes.done({"a", "i"});
  const auto left = lanes.take(stop.get_token());
  REQUIRE(left);
  CHECK(std::holds_alternative<core::SendHello>(left->messages.front()));
  CHECK(lanes.push(kEpoch, dispatch("b", 10)));
}

TEST_CASE("lanes: clearing forgets everything, and a stop wakes waiting threads") {
  Lanes lanes(10);
  std::stop_source stop;
  REQUIRE(lanes.push(kEpoch, dispatch("a", 10)));
  CHECK(lanes.clear() == 1);
  CHECK(lanes.push(kEpoch, dispatch("a", 10)));
  CHECK(lanes.clear() == 1);
  stop.request_stop();
  CHECK_FALSE(lanes.take(stop.get_token()));
}

}  // namespace rota::master::dispatch
