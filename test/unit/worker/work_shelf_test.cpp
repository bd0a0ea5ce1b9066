// What a worker keeps of what leaders sent, and how its service uses it.
#include "worker/desk/work_shelf.h"

#include <doctest/doctest.h>

#include "test/unit/worker/desk_rig.h"
#include "worker/api/worker_service.h"

namespace rota::worker::desk {
namespace {

model::JobWork a_work(const std::string& script) {
  model::JobWork work;
  work.script = script;
  return work;
}

/// A worker's service in front of a desk with one or two slots.
struct ServiceRig {
  explicit ServiceRig(std::size_t most = 10) : service({rig.desk, [](Millis) { return true; }}, most) {}

  static std::string hash_of(const std::string& script) {
    return (script + std::string(kHash, '.')).substr(0, kHash);
  }

  /// One attempt that runs `script`, known by its hash; `sent`: the call carries it.
  thrift::DispatchRequest request_of(std::int64_t run, const std::string& script, bool sent) const {
    thrift::DispatchRequest request;
    request.epoch = 5;
    request.worker_id = rig.life.id;
    request.incarnation = rig.life.incarnation;
    thrift::SharedWork named;
    named.hash = hash_of(script);
    if (sent) {
      thrift::Work work;
      work.script = script;
      work.parameters = {{"a", "job"}, {"b", "job"}};
      named.__set_work(work);
    }
    request.__set_works({named});
    thrift::DispatchItem item;
    item.attempt.run = run;
    item.attempt.attempt = 1;
    item.parameters = {{"b", "run"}};
    item.__set_shared(0);
    request.items.push_back(item);
    return request;
  }
  std::string answer_to(const thrift::DispatchRequest& request) {
    std::vector<thrift::DispatchAnswer> answers;
    service.dispatch({}, answers, request);
    REQUIRE(answers.size() == request.items.size());
    return answers.front().refusal;
  }
  const Order& last_order() const { return rig.runner.orders.back(); }

  static constexpr std::size_t kHash = 32;
  DeskRig rig;
  api::WorkerServiceHandler service;
};

}  // namespace

TEST_CASE("work_shelf: the least recently used go first, by number and by bytes") {
  WorkShelf shelf(2, 100);
  shelf.keep("a", a_work("A"), 10);
  shelf.keep("b", a_work("B"), 10);
  CHECK(shelf.find("a")->script == "A");
  shelf.keep("c", a_work("C"), 10);
  CHECK(shelf.find("b") == nullptr);
  CHECK(shelf.size() == 2);
  shelf.keep("d", a_work("D"), 95);
  CHECK(shelf.size() == 1);
  CHECK(shelf.find("d")->script == "D");
  CHECK(shelf.keep("e", a_work("E"), 101)->script == "E");
  CHECK(shelf.find("e") == nullptr);
}

TEST_CASE("worker api: what an attempt runs is named by its hash after it was sent once") {
  ServiceRig it;
  thrift::Inventory answer;
  thrift::HelloRequest hello;
  hello.epoch = 5;
  hello.leader = "127.0.0.1:7400";
  hello.cluster_uuid = "cluster-1";
  hello.incarnation = it.rig.life.incarnation;
  it.service.hello({}, answer, hello);
  CHECK(answer.most_works == 10);
  CHECK(answer.most_work_bytes > 0);

  CHECK(it.answer_to(it.request_of(1, "echo", true)) == "none");
  CHECK(it.answer_to(it.request_of(2, "echo", false)) == "none");
  CHECK(it.last_order().key == attempt(2));
  CHECK(it.last_order().work.script == "echo");
  CHECK(it.last_order().parameters == model::Parameters{{"a", "job"}, {"b", "run"}});
}

TEST_CASE("worker api: an attempt of an unknown definition decides nothing, and starts when it is sent") {
  ServiceRig it(1);
  CHECK(it.answer_to(it.request_of(1, "echo", false)) == "unknown_definition");
  CHECK(it.rig.runner.orders.empty());
  CHECK(it.rig.desk.inventory().attempts.empty());
  CHECK(it.answer_to(it.request_of(1, "echo", true)) == "none");
  CHECK(it.last_order().work.script == "echo");
  CHECK(it.answer_to(it.request_of(2, "true", true)) == "none");
  CHECK(it.answer_to(it.request_of(1, "echo", false)) == "unknown_definition");  // pushed out
  CHECK(it.answer_to(it.request_of(1, "echo", true)) == "none");                 // held, accepted again
  CHECK(it.rig.runner.orders.size() == 2);

  auto nowhere = it.request_of(3, "true", true);
  nowhere.items[0].shared = 7;
  CHECK(it.answer_to(nowhere) == "unknown_definition");
  nowhere.items[0].shared = -1;
  CHECK(it.answer_to(nowhere) == "unknown_definition");
}

}  // namespace rota::worker::desk
