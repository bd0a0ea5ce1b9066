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

}  // namespace rota::worker::presence
