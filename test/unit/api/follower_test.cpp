// Two masters: one leads, the other passes on what it is asked to.
#include <doctest/doctest.h>

#include "api_setup.h"

namespace rota::master::api::test {
namespace {

struct Pair {
  Pair() {
    leader.leader.script = submitted;
    core::Snapshot view;
    view.epoch = Epoch{2};
    view.taken = kNow - Millis{40};
    view.jobs = 3;
    view.calendars_ending.push_back({"shop", "year", *model::day_from_text("2023-12-31"),
                                     wall_from_ms(1'704'067'200'000), true, 2});
    view.workers.push_back({});
    view.workers.back().info.change().key = {"w1", "life"};
    view.workers.back().state = "online";
    view.waiting.add(RunId{5}, {model::RunState::Queued, model::Reason::AllSlotsBusy, ""});
    leader.leader.view = std::make_shared<const core::Snapshot>(view);
    follower.leader.address = model::Address{"127.0.0.1", leader.server.port()};
  }

  Stored stored{{a_run(5, model::RunState::Waiting)}};
  TestMaster leader{stored.memory, true};
  TestMaster follower{stored.memory, false};
};

thrift::RequestHead forward() {
  thrift::RequestHead out;
  out.__set_forward(true);
  return out;
}

}  // namespace

TEST_CASE("follower: refuses a change and names the leader") {
  Pair pair;
  const auto answer = pair.follower.submit(an_item());
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::NotLeader);
  CHECK(answer.error().leader == rpc::to_string(pair.leader.endpoint()));
  CHECK(pair.leader.leader.posted.empty());
}

TEST_CASE("follower: passes a change on, one hop, when asked to") {
  Pair pair;
  const auto answer = pair.follower.submit(an_item(), forward());
  REQUIRE(answer);
  CHECK(answer->run == 100);
  CHECK(pair.leader.leader.posted_of<core::SubmitRuns>().size() == 1);
}

TEST_CASE("follower: a wrong hint ends after one hop") {
  Pair pair;
  pair.leader.leader.leads = false;
  pair.leader.leader.address = model::Address{"127.0.0.1", pair.follower.server.port()};
  const auto answer = pair.follower.submit(an_item(), forward());
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::NotLeader);
}

TEST_CASE("follower: without a leader every answer says why nobody leads") {
  Pair pair;
  pair.follower.leader.address.reset();
  pair.follower.leader.why_nobody = "no master leads for 12s: no privilege";
  const auto answer = pair.follower.submit(an_item(), forward());
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.message == "no master leads for 12s: no privilege; repeat in a moment");
  const auto status = pair.follower.ask([](auto& client) {
    thrift::ClusterStatus out;
    client.cluster_status(out, forward());
    return out;
  });
  REQUIRE(status);
  CHECK(status->health.at("office") == "no master leads for 12s: no privilege");
  CHECK(status->age_ms == -1);
}

TEST_CASE("follower: without a leader it says that one is coming") {
  Pair pair;
  pair.follower.leader.address.reset();
  const auto answer = pair.follower.submit(an_item(), forward());
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::NotLeader);
  CHECK(answer.error().leader.empty());
  CHECK(answer.error().retry_after == Millis{50});
  CHECK(answer.error().error.message == "no master leads yet; repeat in a moment");
}

TEST_CASE("follower: a leader that is gone means surely not done") {
  Pair pair;
  pair.leader.server.stop();
  const auto answer = pair.follower.submit(an_item(), forward());
  REQUIRE_FALSE(answer);
  CHECK(answer.error().error.code == ErrorCode::Unavailable);
}

TEST_CASE("follower: tells what only the leader knows") {
  Pair pair;
  const auto status = pair.follower.ask([](auto& client) {
    thrift::ClusterStatus out;
    client.cluster_status(out, {});
    return out;
  });
  REQUIRE(status);
  CHECK(status->jobs == 3);
  CHECK(status->age_ms == 40);
  CHECK(status->cluster == "test");
  REQUIRE(status->calendars_ending.size() == 1);
  const thrift::CalendarEnding& ending = status->calendars_ending.front();
  CHECK(ending.space + "/" + ending.name == "shop/year");
  CHECK(ending.last_day == "2023-12-31");
  CHECK(ending.ends_ms == 1'704'067'200'000);
  CHECK(ending.beyond == "hold");
  CHECK(ending.jobs == 2);
  const auto workers = pair.follower.ask([](auto& client) {
    std::vector<thrift::WorkerInfo> out;
    client.list_workers(out, {});
    return out;
  });
  REQUIRE(workers);
  REQUIRE(workers->size() == 1);
  CHECK(workers->front().state == "online");
  const auto why = pair.follower.ask([](auto& client) {
    thrift::Explanation out;
    client.explain(out, {}, 5);
    return out;
  });
  REQUIRE(why);
  CHECK(why->reason == "all_slots_busy");
  CHECK(why->age_ms == 40);
}

TEST_CASE("follower: without its leader it answers with what it knows, and says so") {
  Pair pair;
  pair.leader.server.stop();
  const auto status = pair.follower.ask([](auto& client) {
    thrift::ClusterStatus out;
    client.cluster_status(out, {});
    return out;
  });
  REQUIRE(status);
  CHECK(status->age_ms == -1);
  CHECK(status->health.at("database") == "ok");
  CHECK(status->health.at("leader").find("not reachable") != std::string::npos);
  const auto why = pair.follower.ask([](auto& client) {
    thrift::Explanation out;
    client.explain(out, {}, 5);
    return out;
  });
  REQUIRE(why);
  CHECK(why->state == "waiting");
  CHECK(why->sentence.find("as stored") != std::string::npos);
  CHECK(why->age_ms == 60'000);
}

TEST_CASE("follower: passes reports and renewals on") {
  Pair pair;
  pair.leader.leader.script = [](const core::Event& event) -> std::optional<core::ReplyBody> {
    if (std::holds_alternative<core::RenewAsked>(event)) return core::Renewed{};
    return core::ReportsTaken{{{RunId{9}, 1}}};
  };
  thrift::ReportRequest request;
  request.worker.id = "w1";
  request.reports.emplace_back();
  request.reports.back().attempt.run = 9;
  request.reports.back().attempt.attempt = 1;
  request.reports.back().what = "started";
  const auto taken = pair.follower.tell([&](auto& client) {
    std::vector<thrift::AttemptKey> out;
    client.report(out, request);
    return out;
  });
  REQUIRE(taken);
  CHECK(taken->size() == 1);
  CHECK(pair.follower.tell([](auto& client) { client.renew({}); }));
  pair.leader.leader.leads = false;
  const auto refused = pair.follower.tell([](auto& client) { client.renew({}); });
  REQUIRE_FALSE(refused);
  CHECK(refused.error().error.code == ErrorCode::NotLeader);
}

}  // namespace rota::master::api::test
