// The models of ZooKeeper that the unit tests and the simulator use behave like the real server.
#include <doctest/doctest.h>

#include "common/base/random.h"
#include "common/zk/paths.h"
#include "test/contract/agreement/zk_backs.h"
#include "test/support/patience.h"

namespace rota::agreement {

namespace {

constexpr int kZkSteps = 60;

std::string fresh_folder(ZkBack& back) {
  zk::ClientOptions options;
  options.addresses = back.address(kLooksOn);
  options.operation_deadline = Millis{20'000};
  auto client = back.factory(kLooksOn)(options, [](const zk::Event&) {});
  REQUIRE(client);
  const std::string folder = "/agreement/" + random_hex(6);
  const MonoTime end = BootClock::now() + testing::kPatience;
  Result<void> made = zk::ensure_folder(**client, folder);
  while (!made && BootClock::now() < end) made = zk::ensure_folder(**client, folder);
  REQUIRE(made);
  return folder;
}

/// Empty, or the script up to the first disagreement.
std::string play_both(std::uint64_t seed, ZkBack& real_back, ZkBack& model_back, ZkFaults faults) {
  ZkSide real(real_back, fresh_folder(real_back));
  ZkSide model(model_back, fresh_folder(model_back));
  Dice dice(seed);
  std::vector<std::string> script;
  for (int i = 0; i < kZkSteps; ++i) {
    const ZkStep step = random_zk_step(dice, faults);
    script.push_back(text_of(step));
    const std::string from_real = real.play(step);
    const std::string from_model = model.play(step);
    if (from_real != from_model) return disagreement(seed, script, from_real, from_model);
  }
  return "";
}

template <typename Model>
void play_scripts(const Seeds& seeds, ZkFaults faults) {
  testing::ZookeeperServer server;
  REQUIRE(server.start());
  for (std::uint64_t i = 0; i < seeds.count; ++i) {
    RealZkBack real(server);
    Model model;
    const std::string apart = play_both(seeds.from + i, real, model, faults);
    REQUIRE_MESSAGE(apart.empty(), apart);
  }
}

}  // namespace

TEST_CASE("agreement: the fake ZooKeeper answers random scripts like the real one") {
  const Seeds seeds = seeds_to_try(4);
  play_scripts<FakeZkBack>(seeds, ZkFaults::None);
  MESSAGE("figure: zookeeper_agreement scripts=", seeds.count, " steps=", seeds.count * kZkSteps);
}

TEST_CASE("agreement: the simulator's ZooKeeper answers random scripts like the real one") {
  const Seeds seeds = seeds_to_try(2);
  play_scripts<SimZkBack>(seeds, ZkFaults::All);
  MESSAGE("figure: simulated_zookeeper_agreement scripts=", seeds.count, " steps=", seeds.count * kZkSteps);
}

}  // namespace rota::agreement
