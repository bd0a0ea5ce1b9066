#include "master/dispatch/dispatcher.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <vector>

#include "WorkerService.h"
#include "common/rpc/error_wire.h"
#include "common/rpc/server.h"
#include "common/wire/worker_wire.h"
#include "fake_definitions.h"
#include "test/support/loopback.h"
#include "test/support/patience.h"

namespace rota::master::dispatch::test {
namespace {

using Kind = core::DispatchVerdict::Kind;

/// A worker that says yes, and remembers what it was asked.
class FakeWorker final : public thrift::WorkerServiceNull {
 public:
  void hello(thrift::Inventory& out, const thrift::HelloRequest& request) override {
    wait_while_held();
    std::scoped_lock lock(mutex_);
    asked_.push_back("hello");
    last_hello = request;
    out.worker.id = request.worker_id;
    out.worker.incarnation = request.incarnation;
    out.highest_epoch = highest_epoch;
    if (!keeps_works) return;
    out.__set_most_works(10);
    out.__set_most_work_bytes(1 << 20);
  }
  void dispatch(std::vector<thrift::DispatchAnswer>& out,
                const thrift::DispatchRequest& request) override {
    wait_while_held();
    std::scoped_lock lock(mutex_);
    asked_.push_back("dispatch");
    sizes.push_back(request.items.size());
    for (const auto& work : request.works) ++(work.__isset.work ? works_sent : works_named);
    for (const auto& item : request.items) {
      if (item.__isset.work) ++items_with_work;
      if (loses_works && item.__isset.shared) {
        out.push_back(wire::unknown_work_answer(item.attempt));
        continue;
      }
      checkpoints.push_back(item.__isset.checkpoint ? item.checkpoint : "none");
      out.push_back(wire::dispatch_answer(wire::from_wire(item.attempt), refusal, ""));
    }
  }
  void cancel(const thrift::CancelRequest& request) override {
    {
      std::scoped_lock lock(mutex_);
      asked_.push_back("cancel");
      cancelled += request.attempts.size();
    }
    changed_.notify_all();
    refuse_older(request.epoch);
  }
  void drain(const thrift::DrainRequest& request) override { refuse_older(request.epoch); }

  std::vector<std::string> asked() {
    std::scoped_lock lock(mutex_);
    return asked_;
  }
  void hold(bool on) {
    {
      std::scoped_lock lock(mutex_);
      held_ = on;
    }
    changed_.notify_all();
  }
  void wait_cancelled(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, testing::kPatience, [&] { return cancelled >= count; });
  }

  thrift::HelloRequest last_hello;
  std::int64_t highest_epoch = 0;
  std::vector<std::size_t> sizes;
  std::vector<std::string> checkpoints;
  bool keeps_works = false;
  bool loses_works = false;
  int works_sent = 0;
  int works_named = 0;
  int items_with_work = 0;
  std::size_t cancelled = 0;
  model::Refusal refusal = model::Refusal::None;

 private:
  void refuse_older(std::int64_t epoch) const {
    if (epoch < highest_epoch) throw rpc::to_wire(Error(ErrorCode::Fenced, "a higher epoch is known"));
  }
  void wait_while_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !held_; });
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> asked_;
  bool held_ = false;
};

/// Collects a Term's events.
class Inbox {
 public:
  EventPort port() {
    return [this](core::Event event) {
      std::scoped_lock lock(mutex_);
      events_.push_back(std::move(event));
      changed_.notify_all();  // under the lock: who waited may end this object next
    };
  }
  std::vector<core::Event> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, testing::kPatience, [&] { return events_.size() >= count; });
    return events_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<core::Event> events_;
};

struct Setup {
  explicit Setup(Millis timeout = testing::kPatience) {
    options.rpc_timeout = timeout;
    options.threads = 4;
    REQUIRE(server.start());
    dispatcher = std::make_unique<Dispatcher>(definitions, options);
    begin(Epoch{3});
  }
  ~Setup() {
    worker->hold(false);
    dispatcher->stop();
  }
  void begin(Epoch epoch) {
    dispatcher->begin_term({epoch, "uuid", {"127.0.0.1", 4242}, inbox.port()});
  }
  model::Address address() const { return {"127.0.0.1", server.port()}; }
  core::SendDispatch dispatch_of(int from, int count) const {
    core::SendDispatch out{key, address(), {}};
    for (int i = 0; i < count; ++i) {
      core::DispatchItem item;
      item.attempt = {RunId{from + i}, 1};
      item.job = JobId{1};
      item.version = 1;
      out.items.push_back(item);
    }
    return out;
  }

  const model::WorkerKey key{"w1", "life"};
  FakeDefinitions definitions;
  std::shared_ptr<FakeWorker> worker = std::make_shared<FakeWorker>();
  rpc::Server server{std::make_shared<thrift::WorkerServiceProcessor>(worker), {}};
  DispatcherOptions options;
  Inbox inbox;
  std::unique_ptr<Dispatcher> dispatcher;
};

}  // namespace

TEST_CASE("dispatcher: hello goes before dispatch, and both answers come back") {
  Setup setup;
  setup.dispatcher->send(Epoch{3}, core::SendHello{setup.key, setup.address()});
  setup.dispatcher->send(Epoch{3}, setup.dispatch_of(1, 2));
  const auto events = setup.inbox.wait_for(2);
  REQUIRE(events.size() == 2);
  const auto* hello = std::get_if<core::HelloAnswered>(&events[0]);
  REQUIRE(hello);
  CHECK(hello->inventory.worker == setup.key);
  CHECK(setup.worker->last_hello.leader == "127.0.0.1:4242");
  CHECK(setup.worker->last_hello.cluster_uuid == "uuid");
  CHECK(setup.worker->last_hello.epoch == 3);
  const auto* answered = std::get_if<core::DispatchAnswered>(&events[1]);
  REQUIRE(answered);
  REQUIRE(answered->verdicts.size() == 2);
  CHECK(answered->verdicts[0].kind == Kind::Accepted);
  CHECK(setup.worker->asked() == std::vector<std::string>{"hello", "dispatch"});
}

TEST_CASE("dispatcher: distinguishes a refused connection from an unanswered hello") {
  Setup setup;
  const model::Address nobody{"127.0.0.1", testing::free_port()};
  setup.dispatcher->send(Epoch{3}, core::SendHello{{"w2", "x"}, nobody});
  auto events = setup.inbox.wait_for(1);
  REQUIRE(events.size() == 1);
  REQUIRE(std::get_if<core::HelloFailed>(&events[0]));
  CHECK(std::get<core::HelloFailed>(events[0]).refused);

  Setup hurried(Millis{150});
  hurried.worker->hold(true);
  hurried.dispatcher->send(Epoch{3}, core::SendHello{hurried.key, hurried.address()});
  events = hurried.inbox.wait_for(1);
  REQUIRE(events.size() == 1);
  REQUIRE(std::get_if<core::HelloFailed>(&events[0]));
  CHECK_FALSE(std::get<core::HelloFailed>(events[0]).refused);
}

TEST_CASE("dispatcher: an unanswered dispatch is unknown, a refused connection also fails hello") {
  Setup hurried(Millis{testing::kGrowingMs[1]});  // long enough for the sending
  hurried.worker->hold(true);
  hurried.dispatcher->send(Epoch{3}, hurried.dispatch_of(1, 3));
  auto events = hurried.inbox.wait_for(1);
  REQUIRE(events.size() == 1);
  const auto& unknown = std::get<core::DispatchAnswered>(events[0]);
  REQUIRE(unknown.verdicts.size() == 3);
  for (const auto& verdict : unknown.verdicts) CHECK(verdict.kind == Kind::Unknown);
  CHECK(hurried.dispatcher->counters().unknown == 3);

  Setup setup;
  setup.server.stop();
  setup.dispatcher->send(Epoch{3}, setup.dispatch_of(4, 1));
  events = setup.inbox.wait_for(2);
  REQUIRE(events.size() == 2);
  CHECK(std::get<core::DispatchAnswered>(events[0]).verdicts[0].kind == Kind::Unknown);
  CHECK(std::get<core::HelloFailed>(events[1]).refused);
}

TEST_CASE("dispatcher: a definition that cannot be fetched makes its attempts unknown") {
  Setup setup;
  setup.definitions.failures = 2;
  setup.dispatcher->send(Epoch{3}, setup.dispatch_of(1, 1));
  const auto events = setup.inbox.wait_for(1);
  REQUIRE(events.size() == 1);
  const auto& answered = std::get<core::DispatchAnswered>(events[0]);
  CHECK(answered.verdicts[0].kind == Kind::Unknown);
  CHECK(answered.verdicts[0].detail.find("database") != std::string::npos);
  CHECK(setup.worker->asked().empty());
}

TEST_CASE("dispatcher: a later attempt gets the checkpoint of an earlier one, or is not sent") {
  Setup setup;
  auto message = setup.dispatch_of(1, 2);
  message.items[1].attempt.attempt = 2;
  setup.definitions.checkpoint_failures = 1;
  setup.dispatcher->send(Epoch{3}, message);
  auto events = setup.inbox.wait_for(2);
  REQUIRE(events.size() == 2);
  const auto& without = std::get<core::DispatchAnswered>(events[0]);
  CHECK(without.verdicts[0].kind == Kind::Unknown);
  CHECK(without.verdicts[0].detail.find("checkpoint") != std::string::npos);
  CHECK(setup.worker->checkpoints == std::vector<std::string>{"none"});
  setup.dispatcher->send(Epoch{3}, message);
  events = setup.inbox.wait_for(3);
  REQUIRE(events.size() == 3);
  CHECK(setup.worker->checkpoints == std::vector<std::string>{"none", "none", "saved 2"});
  CHECK(setup.definitions.asked_checkpoints == 2);
}

TEST_CASE("dispatcher: large batches are split, and waiting items are joined") {
  Setup setup;
  setup.worker->hold(true);
  setup.dispatcher->send(Epoch{3}, core::SendHello{setup.key, setup.address()});
  setup.dispatcher->send(Epoch{3}, setup.dispatch_of(1, 400));
  setup.dispatcher->send(Epoch{3}, setup.dispatch_of(401, 400));
  setup.worker->hold(false);
  const auto events = setup.inbox.wait_for(3);
  CHECK(events.size() == 3);
  CHECK(setup.worker->sizes == std::vector<std::size_t>{500, 300});
  CHECK(setup.dispatcher->counters().attempts_sent == 800);
}

TEST_CASE("dispatcher: what attempts run is sent once to a life that keeps it") {
  Setup setup;
  setup.worker->keeps_works = true;
  setup.dispatcher->send(Epoch{3}, core::SendHello{setup.key, setup.address()});
  setup.dispatcher->send(Epoch{3}, setup.dispatch_of(1, 3));
  setup.inbox.wait_for(2);
  setup.dispatcher->send(Epoch{3}, setup.dispatch_of(4, 3));
  setup.inbox.wait_for(3);
  CHECK(setup.worker->works_sent == 1);
  CHECK(setup.worker->works_named == 1);
  CHECK(setup.worker->items_with_work == 0);

  SUBCASE("a new Term, or a new hello, sends it again") {
    SUBCASE("Term") {
      setup.dispatcher->end_term();
      setup.begin(Epoch{3});
    }
    setup.dispatcher->send(Epoch{3}, core::SendHello{setup.key, setup.address()});
    setup.dispatcher->send(Epoch{3}, setup.dispatch_of(7, 1));
    setup.inbox.wait_for(5);
    CHECK(setup.worker->works_sent == 2);
  }
  SUBCASE("another life of the worker, which has not said hello, gets each attempt whole") {
    auto other = setup.dispatch_of(7, 2);
    other.worker.incarnation = "later";
    setup.dispatcher->send(Epoch{3}, other);
    setup.inbox.wait_for(4);
    CHECK(setup.worker->items_with_work == 2);
  }
  SUBCASE("a worker that has lost it is sent it at once, and nobody else hears of that") {
    setup.worker->loses_works = true;
    setup.dispatcher->send(Epoch{3}, setup.dispatch_of(7, 2));
    const auto events = setup.inbox.wait_for(4);
    REQUIRE(events.size() == 4);
    const auto& answered = std::get<core::DispatchAnswered>(events[3]);
    REQUIRE(answered.verdicts.size() == 2);
    CHECK(answered.verdicts[0].kind == Kind::Accepted);
    CHECK(answered.verdicts[1].kind == Kind::Accepted);
    CHECK(setup.worker->items_with_work == 2);
    CHECK(setup.dispatcher->counters().works_lost == 2);
    CHECK(setup.dispatcher->counters().unknown == 0);
    setup.worker->loses_works = false;
    setup.dispatcher->send(Epoch{3}, setup.dispatch_of(9, 1));
    setup.inbox.wait_for(5);
    CHECK(setup.worker->works_sent == 2);
  }
}

TEST_CASE("dispatcher: an older worker gets what each attempt runs with it") {
  Setup setup;
  setup.dispatcher->send(Epoch{3}, core::SendHello{setup.key, setup.address()});
  setup.dispatcher->send(Epoch{3}, setup.dispatch_of(1, 3));
  setup.inbox.wait_for(2);
  CHECK(setup.worker->items_with_work == 3);
  CHECK(setup.worker->works_sent == 0);
}

TEST_CASE("dispatcher: refusals of a deposed leader are counted") {
  Setup setup;
  setup.worker->refusal = model::Refusal::OldEpoch;
  setup.dispatcher->send(Epoch{3}, setup.dispatch_of(1, 2));
  const auto events = setup.inbox.wait_for(1);
  REQUIRE(events.size() == 1);
  CHECK(std::get<core::DispatchAnswered>(events[0]).verdicts[0].refusal ==
        model::Refusal::OldEpoch);
  CHECK(setup.dispatcher->counters().refused_old_epoch == 2);
}

TEST_CASE("dispatcher: hello reports a higher epoch even for another life") {
  Setup setup;
  setup.worker->highest_epoch = 9;
  setup.dispatcher->send(Epoch{3}, core::SendHello{setup.key, setup.address()});
  const auto events = setup.inbox.wait_for(1);
  REQUIRE(events.size() == 1);
  CHECK(std::get<core::HelloAnswered>(events[0]).inventory.highest_epoch == Epoch{9});
}

TEST_CASE("dispatcher: an answer that comes after its Term is dropped") {
  Setup setup;
  setup.worker->hold(true);
  setup.dispatcher->send(Epoch{3}, setup.dispatch_of(1, 1));
  while (setup.dispatcher->counters().attempts_sent == 0) std::this_thread::yield();
  setup.dispatcher->end_term();
  Inbox later;
  setup.dispatcher->begin_term({Epoch{5}, "uuid", {"127.0.0.1", 4242}, later.port()});
  setup.worker->hold(false);
  setup.dispatcher->send(Epoch{5}, core::SendHello{setup.key, setup.address()});
  const auto events = later.wait_for(1);
  REQUIRE(events.size() == 1);
  CHECK(std::holds_alternative<core::HelloAnswered>(events[0]));
  CHECK(setup.inbox.wait_for(0).empty());
  CHECK(setup.dispatcher->counters().dropped == 1);
  setup.dispatcher->send(Epoch{3}, setup.dispatch_of(2, 1));
  CHECK(setup.dispatcher->counters().dropped == 2);
}

TEST_CASE("dispatcher: cancels reach the worker") {
  Setup setup;
  setup.dispatcher->send(
      Epoch{3}, core::SendCancel{setup.key, setup.address(), {{RunId{1}, 1}}, Millis{5}});
  setup.worker->wait_cancelled(1);
  CHECK(setup.worker->cancelled == 1);
}

TEST_CASE("dispatcher: a drain or a cancel that is refused for a higher epoch is told to the Term") {
  Setup setup;
  setup.worker->highest_epoch = 4;
  SUBCASE("drain") {
    setup.dispatcher->send(Epoch{3}, core::SendDrain{setup.key, setup.address(), false, 1});
  }
  SUBCASE("cancel") {
    setup.dispatcher->send(
        Epoch{3}, core::SendCancel{setup.key, setup.address(), {{RunId{1}, 1}}, Millis{5}});
  }
  const auto events = setup.inbox.wait_for(1);
  REQUIRE(events.size() == 1);
  REQUIRE(std::get_if<core::EpochRefused>(&events[0]));
  CHECK(std::get<core::EpochRefused>(events[0]).worker == setup.key);
  CHECK(setup.dispatcher->counters().refused_old_epoch == 1);
}

TEST_CASE("dispatcher: more attempts than may wait are answered at once") {
  Setup setup;
  setup.options.max_queued = 5;
  Dispatcher small(setup.definitions, setup.options);
  Inbox inbox;
  small.begin_term({Epoch{3}, "uuid", {"127.0.0.1", 1}, inbox.port()});
  small.send(Epoch{3}, setup.dispatch_of(1, 6));
  const auto events = inbox.wait_for(1);
  REQUIRE(events.size() == 1);
  CHECK(std::get<core::DispatchAnswered>(events[0]).verdicts.size() == 6);
}

}  // namespace rota::master::dispatch::test
