// Law 2 for settings: the parts beside the core hear of one when it is stored, and before its reply leaves.
#include <doctest/doctest.h>

#include "beside_rig.h"

using namespace rota;
using namespace rota::test;

namespace {

core::Event a_setting(std::int64_t token, std::int64_t value) {
  return core::SetSetting{Token{token}, "t", "catch_up.rate", value, "", {}};
}

}  // namespace

TEST_CASE("loop: a setting is acted on once it is stored, and before it is acknowledged") {
  BesideRig rig;
  rig.store.outcomes = {ApplyOutcome::Failed, ApplyOutcome::Applied};
  rig.post(a_setting(1, 5));
  const auto turn = rig.loop.turn();
  REQUIRE(rig.store.tried.size() == 1);
  CHECK(turn.storing);
  CHECK(rig.settings.empty());
  rig.clock.advance(std::chrono::ceil<Millis>(turn.wait));
  rig.loop.turn();
  REQUIRE(rig.store.tried.size() == 2);
  CHECK(rig.settings == rig.store.tried[1].settings);
  CHECK(rig.replies_before_settings == 0);
  CHECK(std::get<core::SettingApplied>(rig.replies.at(Token{1})).version == 1);
}

TEST_CASE("loop: a setting that cannot be stored is not acted on") {
  BesideRig rig;
  rig.store.outcomes = {ApplyOutcome::Fenced};
  rig.post(a_setting(1, 5));
  CHECK(rig.loop.turn().ended);
  CHECK(rig.settings.empty());
}

TEST_CASE("loop: settings of a batch that is stored beside the loop are acted on in their order") {
  BesideRig rig;
  rig.post(a_setting(3, 5));
  rig.begin_two();
  rig.post(a_setting(4, 6));
  rig.loop.turn();
  CHECK(rig.settings.empty());
  rig.storing.stored();
  rig.loop.turn();
  rig.loop.turn();
  REQUIRE(rig.settings.size() == 2);
  CHECK(rig.settings[0].value == 5);
  CHECK(rig.settings[1].value == 6);
}
