#include "master/api/key_floors.h"

#include <doctest/doctest.h>

#include "test/unit/dispatch/fake_definitions.h"

namespace rota::master::api::test {
namespace {

/// Knows the greatest key only.
class KeyReader final : public dispatch::test::FakeDefinitions {
 public:
  Result<std::string> greatest_own_key(const std::string& principal) override {
    ++asked_keys;
    if (is_away) return fail(ErrorCode::Unavailable, "the database is away");
    return principal == "local" ? greatest : std::string();
  }
  std::string greatest = "auto-5";
  bool is_away = false;
  int asked_keys = 0;
};

struct Rig {
  KeyReader reader;
  KeyFloors floors{reader};
  MonoTime now{std::chrono::seconds{100}};
  std::optional<core::UnusedKeys> vouch(const std::vector<std::string>& keys, Epoch term = Epoch{7}) {
    return floors.vouch(term, "local", keys, now);
  }
};

}  // namespace

TEST_CASE("key floors: keys above all that are stored need no look-up") {
  Rig rig;
  const auto unused = rig.vouch({"auto-6", "auto-7"});
  REQUIRE(unused);
  CHECK(unused->term == Epoch{7});
  CHECK(unused->read_at == rig.now);
  CHECK_FALSE(rig.vouch({"auto-6", "auto-5"}));  // the floor itself stands in the store
  CHECK_FALSE(rig.vouch({"auto-4"}));
  CHECK_FALSE(rig.vouch({"auto-6", "close-2026-11"}));
  CHECK_FALSE(rig.vouch({"zebra"}));
  CHECK(rig.reader.asked_keys == 1);
  CHECK(rig.floors.vouch(Epoch{7}, "somebody else", {"auto-1"}, rig.now));
}

TEST_CASE("key floors: a floor is read again after a second, and in each Term") {
  Rig rig;
  REQUIRE(rig.vouch({"auto-6"}));
  rig.reader.greatest = "auto-8";
  rig.now += Millis{999};
  CHECK(rig.vouch({"auto-6"}));
  rig.now += Millis{1};
  CHECK_FALSE(rig.vouch({"auto-6"}));
  CHECK(rig.vouch({"auto-9"})->read_at == rig.now);
  rig.reader.greatest = "auto-9";
  CHECK_FALSE(rig.vouch({"auto-9"}, Epoch{8}));
  CHECK(rig.reader.asked_keys == 3);
}

TEST_CASE("key floors: without the store, and after the core refused one, keys are looked up") {
  Rig rig;
  rig.reader.is_away = true;
  CHECK_FALSE(rig.vouch({"auto-6"}));
  rig.reader.is_away = false;
  CHECK(rig.vouch({"auto-6"}));
  rig.floors.distrust(rig.now);
  rig.now += KeyFloors::kDistrust - Millis{1};
  CHECK_FALSE(rig.vouch({"auto-6"}));
  rig.now += Millis{1};
  CHECK(rig.vouch({"auto-6"}));
}

}  // namespace rota::master::api::test
