// P46: versions of settings without a hole, in order, in range, and the newest in force.
#include <doctest/doctest.h>

#include "history.h"
#include "master/verify/setting_check.h"

namespace rota::master::verify::test {
namespace {

model::SettingRow version_of(std::int32_t version, std::optional<std::int64_t> value) {
  model::SettingRow row;
  row.name = "catch_up.rate";
  row.version = version;
  row.value = value;
  row.changed = at(version);
  row.number = run_id(1, 900 + version).value;
  row.principal = "test";
  return row;
}

struct Judged {
  Check check{"P46"};
  explicit Judged(std::vector<model::SettingRow> rows,
                  std::optional<std::vector<model::SettingRow>> in_force = std::nullopt, WallTime now = at(100)) {
    store::MemoryStore memory;
    REQUIRE(memory.enter_office(Epoch{1}, "test"));
    core::Changes changes;
    changes.settings = std::move(rows);
    REQUIRE(memory.apply(Epoch{1}, changes).outcome == store::ApplyOutcome::Applied);
    Sources sources{memory, nullptr, {}};
    if (in_force) sources.settings = [in_force] { return *in_force; };
    Request request;
    request.now = now;
    REQUIRE(look_at_settings(sources, request, check));
  }
  std::string example() const { return check.examples.empty() ? "" : check.examples[0]; }
};

}  // namespace

TEST_CASE("verify: versions of settings are counted, and fine when none is missing") {
  const Judged judged({version_of(1, 5), version_of(2, std::nullopt), version_of(3, 7)});
  CHECK(judged.check.ok);
  CHECK(judged.check.planned == 3);
}

TEST_CASE("verify: a hole, a wrong order and a value out of range are red") {
  CHECK(Judged({version_of(1, 5), version_of(3, 7)}).example() == "setting catch_up.rate: version 1 is followed by 3");
  CHECK(Judged({version_of(2, 5)}).check.missing == 1);
  auto early = version_of(2, 7);
  early.number = version_of(1, 5).number - 1;
  CHECK(Judged({version_of(1, 5), early}).example() ==
        "setting catch_up.rate: version 2 was changed before the version before it");
  CHECK(Judged({version_of(1, 0)}).example() ==
        "setting catch_up.rate: version 1 has the value 0, allowed are 1 to 100000");
}

TEST_CASE("verify: on the leader the newest version is in force, unless it came just now") {
  const std::vector<model::SettingRow> rows{version_of(1, 5), version_of(2, 7)};
  CHECK(Judged(rows, {{version_of(2, 7)}}).check.ok);
  CHECK(Judged(rows, {{version_of(1, 5)}}).example() ==
        "setting catch_up.rate: version 1 is in force on this master, the newest is 2");
  CHECK_FALSE(Judged(rows, std::vector<model::SettingRow>{}).check.ok);
  CHECK(Judged(rows, {{version_of(1, 5)}}, at(4)).check.ok);
  CHECK_FALSE(Judged(rows, {{version_of(3, 9)}}, at(4)).check.ok);
}

TEST_CASE("verify: settings are part of the report") {
  History history = a_true_history();
  history.rows.settings = {version_of(1, 5), version_of(3, 6)};
  CHECK(red(look(history)) == "P46");
  history.rows.settings[1].version = 2;
  CHECK(look(history).ok);
  CHECK(check_of(look(history), "P46").planned == 2);
}

}  // namespace rota::master::verify::test
