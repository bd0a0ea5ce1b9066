#include "worker/run/handler_pool.h"

#include <doctest/doctest.h>

#include <memory>
#include <thread>
#include <vector>

#include "test/unit/worker/fake_leader.h"

namespace rota::worker::run {

namespace {

/// Runs as many tasks as wait for each other; true when all of them ran at the same time.
bool runs_at_once(HandlerPool& pool, int count) {
  auto there = std::make_shared<testing::Shared<int>>();
  auto together = std::make_shared<testing::Shared<int>>();
  for (int i = 0; i < count; ++i) {
    pool.run([there, together, count] {
      there->change([](int& now) { ++now; });
      if (there->becomes([&](int now) { return now == count; })) together->change([](int& now) { ++now; });
    });
  }
  return together->becomes([&](int now) { return now == count; });
}

}  // namespace

TEST_CASE("handler pool: tasks that wait for each other run at once, on new threads and on idle ones") {
  HandlerPool pool(4);
  CHECK(runs_at_once(pool, 4));
  CHECK(runs_at_once(pool, 4));
  CHECK(runs_at_once(pool, 3));
}

TEST_CASE("handler pool: runs every one of many short tasks, from several threads") {
  HandlerPool pool(8);
  testing::Shared<int> done;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i) {
      callers.emplace_back([&] {
        for (int j = 0; j < 2000; ++j) pool.run([&] { done.change([](int& count) { ++count; }); });
      });
    }
  }
  CHECK(done.becomes([](int count) { return count == 8000; }));
  CHECK(pool.stop(testing::kPatience));
}

}  // namespace rota::worker::run
