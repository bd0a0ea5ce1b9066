#include "common/rpc/server_threads.h"

#include <doctest/doctest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <set>
#include <stdexcept>
#include <thread>

#include "test/support/patience.h"

namespace rota::rpc::test {
namespace {

class Task final : public apache::thrift::concurrency::Runnable {
 public:
  explicit Task(std::function<void()> work) : work_(std::move(work)) {}
  void run() override { work_(); }

 private:
  std::function<void()> work_;
};

std::shared_ptr<Task> task(std::function<void()> work) { return std::make_shared<Task>(std::move(work)); }

void await_rest(const ServerThreads& threads, std::size_t resting) {
  const MonoTime give_up = BootClock::now() + testing::kPatience;
  while (threads.idleWorkerCount() != resting && BootClock::now() < give_up) std::this_thread::yield();
  REQUIRE(threads.idleWorkerCount() == resting);
}

}  // namespace

TEST_CASE("server threads: one after the other, all calls are served by who rested last") {
  ServerThreads threads(8);
  threads.start();
  await_rest(threads, 8);
  std::set<std::thread::id> seen;
  for (int i = 0; i < 50; ++i) {
    std::latch done(1);
    threads.add(task([&] {
      seen.insert(std::this_thread::get_id());
      done.count_down();
    }));
    done.wait();
    await_rest(threads, 8);
  }
  CHECK(seen.size() == 1);
}

TEST_CASE("server threads: as many work at once as there are, and the others wait") {
  ServerThreads threads(3);
  threads.start();
  std::latch all_at_work(3), go_on(1), done(6);
  std::mutex mutex;
  std::vector<int> order;
  const auto blocking = [&] {
    all_at_work.count_down();
    go_on.wait();
    done.count_down();
  };
  for (int i = 0; i < 3; ++i) threads.add(task(blocking));
  all_at_work.wait();
  for (int i = 0; i < 3; ++i) {
    threads.add(task([&, i] {
      std::scoped_lock lock(mutex);
      order.push_back(i);
      done.count_down();
    }));
  }
  CHECK(threads.pendingTaskCount() == 3);
  CHECK(threads.totalTaskCount() == 6);
  CHECK(threads.idleWorkerCount() == 0);
  {
    std::scoped_lock lock(mutex);
    go_on.count_down();
    CHECK(order.empty());
  }
  done.wait();
  CHECK(order.size() == 3);
}

TEST_CASE("server threads: stopping waits for what is at work and drops what waits") {
  ServerThreads threads(1);
  threads.start();
  std::latch at_work(1);
  std::atomic<bool> is_over = false, was_dropped = true;
  threads.add(task([&] {
    at_work.count_down();
    while (threads.state() != ServerThreads::STOPPED) std::this_thread::yield();
    is_over = true;
  }));
  at_work.wait();
  threads.add(task([&] { was_dropped = false; }));
  threads.stop();
  CHECK(is_over);
  CHECK(was_dropped);
  threads.add(task([&] { was_dropped = false; }));
  threads.stop();
  CHECK(was_dropped);
}

TEST_CASE("server threads: an exception of a task ends nothing else") {
  ServerThreads threads(1);
  threads.start();
  std::latch done(1);
  threads.add(task([] { throw std::runtime_error("of a handler"); }));
  threads.add(task([&] { done.count_down(); }));
  done.wait();
}

}  // namespace rota::rpc::test
