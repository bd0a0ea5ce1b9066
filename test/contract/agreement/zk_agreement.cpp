// The fake ZooKeeper, on which the unit tests stand, does what the real server does.
#include <doctest/doctest.h>

#include "common/base/random.h"
#include "common/zk/paths.h"
#include "common/zk/real_client.h"
#include "test/contract/agreement/zk_script.h"
#include "test/support/zk/fake_server.h"
#include "test/support/zookeeper_server.h"

namespace rota::agreement {

namespace {

constexpr int kZkSteps = 60;

zk::ClientOptions options_for(const std::string& address) {
  zk::ClientOptions options;
  options.addresses = address;
  options.operation_deadline = Millis{10'000};
  return options;
}

std::string fresh_folder(const zk::ClientFactory& factory, const std::string& address) {
  auto client = factory(options_for(address), [](const zk::Event&) {});
  REQUIRE(client);
  const std::string folder = "/agreement/" + random_hex(6);
  const MonoTime end = BootClock::now() + Millis{10'000};
  Result<void> made = zk::ensure_folder(**client, folder);
  while (!made && BootClock::now() < end) made = zk::ensure_folder(**client, folder);
  REQUIRE(made);
  return folder;
}

/// Empty, or the script up to the first disagreement.
std::string play_both(std::uint64_t seed, const std::string& real_address) {
  zk::FakeServer fake;
  ZkSide real(zk::make_real_client, real_address, fresh_folder(zk::make_real_client, real_address));
  ZkSide model(fake.factory(), "fake", fresh_folder(fake.factory(), "fake"));
  Dice dice(seed);
  std::vector<std::string> script;
  for (int i = 0; i < kZkSteps; ++i) {
    const ZkStep step = random_zk_step(dice);
    script.push_back(text_of(step));
    const std::string from_real = real.play(step);
    const std::string from_model = model.play(step);
    if (from_real != from_model) return disagreement(seed, script, from_real, from_model);
  }
  return "";
}

}  // namespace

TEST_CASE("agreement: the fake ZooKeeper answers random scripts as the real one does") {
  testing::ZookeeperServer server;
  REQUIRE(server.start());
  const Seeds seeds = seeds_to_try(5);
  for (std::uint64_t i = 0; i < seeds.count; ++i) {
    const std::string apart = play_both(seeds.from + i, server.address());
    REQUIRE_MESSAGE(apart.empty(), apart);
  }
  MESSAGE("figure: zookeeper_agreement scripts=", seeds.count, " steps=", seeds.count * kZkSteps);
}

}  // namespace rota::agreement
