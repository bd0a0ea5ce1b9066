#include "worker/presence/renew_loop.h"

#include <doctest/doctest.h>

#include "test/unit/worker/fake_leader.h"

namespace rota::worker::presence {

TEST_CASE("renew loop: a grant is counted from the sending, however late the answer") {
  testing::Shared<std::vector<MonoTime>> came;
  testing::Shared<bool> may_answer;
  testing::Shared<std::vector<std::pair<MonoTime, Millis>>> granted;
  const testing::FakeLeader leader{{{}, [&] {
    came.change([](auto& all) { all.push_back(BootClock::now()); });
    may_answer.becomes([](bool open) { return open; });
  }}};
  RenewOptions options;
  options.rpc_deadline = testing::kPatience;
  RenewParts parts;
  parts.life = [] { return model::WorkerKey{"w1", "aa"}; };
  parts.may_renew = [] { return true; };
  parts.vouched = [&](MonoTime sent, Millis grant) {
    granted.change([&](auto& all) { all.emplace_back(sent, grant); });
  };
  RenewLoop loop(options, std::move(parts), leader.address());
  loop.start();
  REQUIRE(came.becomes([](const auto& all) { return !all.empty(); }));
  CHECK(granted.get().empty());
  may_answer.change([](bool& open) { open = true; });
  REQUIRE(granted.becomes([](const auto& all) { return !all.empty(); }));
  CHECK(granted.get()[0].first <= came.get()[0]);
  CHECK(granted.get()[0].second == Millis{5000});
}

TEST_CASE("renew loop: figures travel along, each with its age") {
  testing::Shared<std::vector<thrift::RenewRequest>> came;
  testing::LeaderAnswers answers;
  answers.renewal = [&](const thrift::RenewRequest& request) {
    came.change([&](auto& all) { all.push_back(request); });
  };
  const testing::FakeLeader leader{answers};
  RenewParts parts;
  parts.life = [] { return model::WorkerKey{"w1", "aa"}; };
  parts.may_renew = [] { return true; };
  parts.vouched = [](MonoTime, Millis) {};
  parts.figures = [] {
    Figures figures;
    figures.vitals.emplace().load_percent = 42;
    figures.vitals_age = Millis{700};
    figures.attempts.push_back({{{RunId{5}, 2}, 1'500'000, 4096, 3, {}}, Millis{900}});
    return figures;
  };
  RenewLoop loop({}, std::move(parts), leader.address());
  loop.start();
  REQUIRE(came.becomes([](const auto& all) { return !all.empty(); }));
  const thrift::RenewRequest request = came.get()[0];
  CHECK(request.vitals.load_percent == 42);
  CHECK(request.vitals_age_ms == 700);
  REQUIRE(request.usage.size() == 1);
  CHECK(request.usage[0].attempt.run == 5);
  CHECK(request.usage[0].usage.cpu_us == 1'500'000);
  CHECK(request.usage[0].usage.age_ms == 900);
}

TEST_CASE("renew loop: the last renewal names the leader that answered, and when it was asked") {
  testing::Shared<bool> may_answer;
  const testing::FakeLeader leader{{{}, [&] { may_answer.becomes([](bool open) { return open; }); }}};
  testing::Shared<std::vector<MonoTime>> granted;
  RenewOptions options;
  options.rpc_deadline = testing::kPatience;
  RenewParts parts;
  parts.life = [] { return model::WorkerKey{"w1", "aa"}; };
  parts.may_renew = [] { return true; };
  parts.vouched = [&](MonoTime sent, Millis) { granted.change([&](auto& all) { all.push_back(sent); }); };
  RenewLoop loop(options, std::move(parts), leader.address());
  loop.start();
  CHECK_FALSE(loop.last());
  may_answer.change([](bool& open) { open = true; });
  REQUIRE(granted.becomes([](const auto& all) { return !all.empty(); }));
  loop.stop();
  REQUIRE(loop.last());
  CHECK(loop.last()->epoch == Epoch{1});
  CHECK(loop.last()->sent == granted.get().back());
}

}  // namespace rota::worker::presence
