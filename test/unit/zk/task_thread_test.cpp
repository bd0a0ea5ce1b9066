#include "common/zk/task_thread.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "test/support/zk/test_session.h"

using namespace rota;
using namespace rota::zk;

namespace {
constexpr Millis kLong = testing::kPatience;
}

TEST_CASE("task thread: tasks run in order, later ones later") {
  TaskThread tasks;
  Watched<std::vector<int>> ran;
  const auto note = [&](int number) {
    return [&ran, number] { ran.change([&](auto& all) { all.push_back(number); }); };
  };
  tasks.run(kLong, [&] {  // while this one runs none of them begins
    tasks.post_after(nullptr, Millis{200}, note(3));
    tasks.post_after(nullptr, Millis{200}, note(4));
    tasks.post(nullptr, note(1));
    tasks.post(nullptr, note(2));
  });
  CHECK(ran.becomes([](const auto& all) { return all.size() == 4; }));
  CHECK(ran.get() == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("task thread: after drop nothing of that owner runs") {
  TaskThread tasks;
  int mine = 0;
  int other = 0;
  int owner = 0;
  tasks.run(kLong, [&] {
    tasks.post(&owner, [&] { ++mine; });
    tasks.post(nullptr, [&] { ++other; });
    tasks.drop(&owner);
  });
  tasks.run(kLong, [] {});
  CHECK(mine == 0);
  CHECK(other == 1);
}

TEST_CASE("task thread: drop waits for the owner's running task") {
  TaskThread tasks;
  Watched<int> begun;
  std::atomic<bool> ended = false;
  int owner = 0;
  tasks.post(&owner, [&] {
    begun.change([](int& value) { value = 1; });
    std::this_thread::yield();
    ended = true;
  });
  REQUIRE(begun.becomes([](int value) { return value == 1; }));
  tasks.drop(&owner);
  CHECK(ended);
}

TEST_CASE("task thread: run gives up on a busy thread, and then never runs") {
  TaskThread tasks;
  Watched<int> gate;
  std::atomic<int> ran = 0;
  tasks.post(nullptr, [&] { gate.becomes([](int value) { return value == 1; }); });
  CHECK_FALSE(tasks.run(Millis{5}, [&] { ++ran; }));
  gate.change([](int& value) { value = 1; });
  CHECK(tasks.run(kLong, [] {}));
  CHECK(ran == 0);
}

TEST_CASE("task thread: stopping drops waiting tasks, and may be repeated") {
  TaskThread tasks;
  std::atomic<int> ran = 0;
  tasks.post_after(nullptr, kLong, [&] { ++ran; });
  tasks.stop();
  tasks.stop();
  CHECK_FALSE(tasks.run(kLong, [&] { ++ran; }));
  tasks.post(nullptr, [&] { ++ran; });
  CHECK(ran == 0);
}
