// The memory store, which unit tests and tools use, and the simulator's database behave like the real database.
#include <doctest/doctest.h>

#include <thread>

#include "test/contract/agreement/store_script.h"
#include "test/contract/agreement/store_sides.h"
#include "test/contract/store/samples.h"

namespace rota::agreement {

namespace {

constexpr int kStoreSteps = 40;
constexpr std::string_view kStored = "outcome 0 ";

/// Only the lines in which the two differ.
std::string only_apart(const std::string& text, const std::string& other) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at + 1);
    if (other.find(line) == std::string::npos) out += line;
    at = end + 1;
  }
  return out.empty() ? "(only what the other has not, or another order)" : out;
}

/// Each implementation of the store beside the memory store.
std::string apply_to_all(std::uint64_t seed) {
  const auto sides = master::store::testing::led_backends();
  REQUIRE(sides.size() >= 2);
  StoreScript dice(seed);
  std::vector<std::string> script;
  for (int i = 0; i < kStoreSteps; ++i) {
    const StoreStep step = dice.next();
    script.push_back(text_of(step));
    const std::string first = play(sides[0], step) + look(sides[0], step);
    dice.note(step, first.starts_with(kStored));
    for (std::size_t side = 1; side < sides.size(); ++side) {
      const std::string seen = play(sides[side], step) + look(sides[side], step);
      if (seen == first) continue;
      return sides[side].name + ": " +
             disagreement(seed, script, only_apart(seen, first), only_apart(first, seen));
    }
  }
  return "";
}

/// The simulator plays first, because its random numbers decide how an answer is lost.
std::string play_with_faults(std::uint64_t seed) {
  SimStoreSide model;
  RealStoreSide real;
  StoreScript dice(seed, StoreFaults::All);
  std::vector<std::string> script;
  for (int i = 0; i < kStoreSteps; ++i) {
    const StoreStep step = dice.next();
    script.push_back(text_of(step));
    Loss loss = Loss::None;
    std::string from_model = model.play(step, loss);
    std::string from_real = real.play(step, loss);
    if (model.has_gone_back()) real.go_back();
    from_model += model.look(step);
    from_real += real.look(step);
    dice.note(step, from_model.starts_with(kStored));
    if (from_model == from_real) continue;
    return disagreement(seed, script, only_apart(from_real, from_model), only_apart(from_model, from_real));
  }
  return "";
}

/// Its watermark travels in a second text of the transaction.
master::core::Changes long_batch() {
  auto changes = master::store::testing::new_job(10, "a");
  changes.new_runs = {master::store::testing::a_manual_run(100, 10)};
  changes.new_runs[0].parameters =
      std::make_shared<const model::Parameters>(model::Parameters{{"long", std::string(1 << 20, 'x')}});
  changes.watermark = wall_from_ms(master::store::testing::kBase);
  return changes;
}

}  // namespace

TEST_CASE("agreement: the memory store takes random batches as the real database does") {
  const Seeds seeds = seeds_to_try(2);
  for (std::uint64_t i = 0; i < seeds.count; ++i) {
    const std::string apart = apply_to_all(seeds.from + i);
    REQUIRE_MESSAGE(apart.empty(), apart);
  }
  MESSAGE("figure: store_agreement scripts=", seeds.count, " steps=", seeds.count * kStoreSteps);
}

TEST_CASE("agreement: the simulator's database takes random batches and faults as the real one does") {
  const Seeds seeds = seeds_to_try(2);
  for (std::uint64_t i = 0; i < seeds.count; ++i) {
    const std::string apart = play_with_faults(seeds.from + i);
    REQUIRE_MESSAGE(apart.empty(), apart);
  }
  MESSAGE("figure: simulated_store_agreement scripts=", seeds.count, " steps=", seeds.count * kStoreSteps);
}

TEST_CASE("agreement: a leader that stops in its transaction writes nothing, and its successor is not kept out") {
  using master::store::ApplyOutcome;
  SimStoreSide model;
  model.store().faults.freezes_caller = Millis{10'000};
  CHECK(model.store().apply(Epoch{1}, long_batch()).outcome == ApplyOutcome::Failed);
  auto taken = model.office().enter_office(Epoch{2}, "next");
  REQUIRE_FALSE(taken);  // the real one waits inside of the call
  CHECK(taken.error().code == ErrorCode::TimedOut);
  model.pass(Millis{3000});
  CHECK(model.office().enter_office(Epoch{2}, "next"));

  RealStoreSide real;
  real.proxy().at("INSERT INTO watermark", rota::testing::CuttingProxy::Deed::Hold);
  master::store::ApplyResult result;
  std::thread frozen([&] { result = real.leader(Epoch{1}).apply(Epoch{1}, long_batch()); });
  CHECK(real.proxy().wait_until_done());
  CHECK(real.office().enter_office(Epoch{2}, "next"));
  real.proxy().release();
  frozen.join();
  CHECK(result.outcome == ApplyOutcome::Failed);

  for (const Epoch epoch : {Epoch{1}, Epoch{2}}) {
    CHECK(words_of(model.store().apply(epoch, long_batch())) == words_of(real.leader(epoch).apply(epoch, long_batch())));
    CHECK(model.look({}) == real.look({}));
  }
}

}  // namespace rota::agreement
