#include "worker/run/handler_attempt.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <ctime>
#include <map>
#include <stdexcept>

#include "worker/handlers/builtin.h"
#include "worker/run/handler_pool.h"
#include "worker/run/thread_costs.h"
#include "worker/sdk/registry.h"

namespace rota::worker::run {

namespace {

struct Setting {
  sdk::Registry registry;
  std::map<int, UniqueFd> pipes;
  FakeClock clock;

  std::shared_ptr<HandlerAttempt> attempt() {
    return std::make_shared<HandlerAttempt>(
        model::AttemptKey{RunId{1}, 1}, sdk::RunFacts{},
        [this](model::AttemptKey, int stream, UniqueFd end) { pipes[stream] = std::move(end); });
  }
  model::Outcome run(std::function<Result<void>(sdk::Context&)> function) {
    REQUIRE(registry.add("it", std::move(function)));
    return attempt()->run(*registry.find("it"), clock);
  }
  std::string text(int stream) {
    std::string all(1000, '\0');
    all.resize(static_cast<std::size_t>(::read(pipes[stream].get(), all.data(), all.size())));
    return all;
  }
};

}  // namespace

TEST_CASE("handler_attempt: its thread's CPU time is told, and its memory as not known") {
  Setting it;
  volatile std::uint64_t sum = 0;
  const std::clock_t before = std::clock();
  const auto outcome = it.run([&](sdk::Context&) -> Result<void> {
    const auto from = ThreadCosts::now();
    while (ThreadCosts::now().since(from).cpu_us.value_or(0) < 20'000) sum = sum + 1;
    return {};
  });
  const auto process_us = static_cast<double>(std::clock() - before) * 1e6 / CLOCKS_PER_SEC;
  REQUIRE(outcome.cpu_us.has_value());
  CHECK(*outcome.cpu_us >= 20'000);
  CHECK(static_cast<double>(*outcome.cpu_us) <= process_us + 20'000);
  CHECK(outcome.read_bytes.has_value());
  CHECK(outcome.written_bytes.has_value());
  CHECK_FALSE(outcome.peak_memory_bytes.has_value());
}

TEST_CASE("handler_attempt: success, failure and what is thrown") {
  Setting it;
  SUBCASE("success with a result and lines") {
    const auto outcome = it.run([](sdk::Context& run) {
      run.log("one");
      run.log_error("two");
      return run.output("value");
    });
    CHECK(outcome.state == model::RunState::Succeeded);
    CHECK(outcome.result == "value");
    CHECK(it.text(1) == "one\n");
    CHECK(it.text(2) == "two\n");
  }
  SUBCASE("an error") {
    const auto outcome =
        it.run([](sdk::Context&) -> Result<void> { return fail(ErrorCode::NotFound, "no file"); });
    CHECK(outcome.state == model::RunState::Failed);
    CHECK(outcome.reason == model::Reason::HandlerFailed);
    CHECK(outcome.message == "no file");
    CHECK(it.pipes.empty());
  }
  SUBCASE("an exception, and something else that flies") {
    const auto thrown =
        it.run([](sdk::Context&) -> Result<void> { throw std::runtime_error("boom"); });
    CHECK(thrown.message == "the handler threw: boom");
    Setting other;
    CHECK(other.run([](sdk::Context&) -> Result<void> { throw 1; }).state ==
          model::RunState::Failed);
  }
  SUBCASE("a result that is too large") {
    const auto outcome =
        it.run([](sdk::Context& run) { return run.output(std::string(70'000, 'x')); });
    CHECK(outcome.state == model::RunState::Failed);
    CHECK(outcome.result.empty());
  }
}

TEST_CASE("handler_attempt: the first who asks it to stop is named") {
  Setting it;
  REQUIRE(worker::handlers::add_builtin(it.registry));
  auto attempt = it.attempt();
  attempt->cancel(warden::KilledBy::Timeout);
  attempt->cancel(warden::KilledBy::Cancel);
  CHECK(attempt->cancelled());
  const auto outcome = attempt->run(*it.registry.find("sleep"), it.clock);
  CHECK(outcome.state == model::RunState::TimedOut);
  CHECK(outcome.message == "told to stop");
}

TEST_CASE("handler_pool: runs as many at once as it has threads, and the rest after") {
  HandlerPool pool(2);
  std::mutex mutex;
  std::condition_variable changed;
  int inside = 0, most = 0, done = 0;
  bool may_go = false;
  for (int i = 0; i < 5; ++i) {
    pool.run([&] {
      std::unique_lock lock(mutex);
      most = std::max(most, ++inside);
      changed.notify_all();
      changed.wait(lock, [&] { return may_go; });
      --inside;
      ++done;
    });
  }
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return inside == 2; });
    may_go = true;
  }
  changed.notify_all();
  CHECK(pool.stop(std::chrono::seconds{120}));
  CHECK(done == 5);
  CHECK(most == 2);
}

TEST_CASE("registry: refuses a used name and the worker's own") {
  sdk::Registry registry;
  const auto nothing = [](sdk::Context&) -> Result<void> { return {}; };
  CHECK(registry.add("a", nothing));
  CHECK(registry.add("a", nothing).error().code == ErrorCode::AlreadyExists);
  CHECK(registry.add("command", nothing).error().code == ErrorCode::InvalidArgument);
  CHECK(registry.add("", nothing).error().code == ErrorCode::InvalidArgument);
  CHECK(registry.find("b") == nullptr);
}

}  // namespace rota::worker::run
