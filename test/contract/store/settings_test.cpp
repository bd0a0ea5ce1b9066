// Settings: each version once, read back as it was, what a new Term gets of them, and how a follower sees that there is more.
#include <doctest/doctest.h>

#include "test/contract/store/backends.h"
#include "test/contract/store/samples.h"

using namespace rota;
using namespace rota::master;
using namespace rota::master::store;
using namespace rota::master::store::testing;

namespace {

model::SettingRow some_setting(const std::string& name, std::int32_t version, std::optional<std::int64_t> value) {
  model::SettingRow row;
  row.name = name;
  row.version = version;
  row.value = value;
  row.changed = wall_from_ms(kBase + version * 1000);
  row.number = (std::int64_t{1} << 40) + version;
  row.principal = "ann";
  row.why = "load test \u00fc";
  return row;
}

void apply_settings(const Backend& on, std::vector<model::SettingRow> rows) {
  core::Changes changes;
  changes.settings = std::move(rows);
  const auto result = on.store->apply(Epoch{1}, changes);
  REQUIRE_MESSAGE(result.outcome == ApplyOutcome::Applied, result.detail);
}

using SettingRows = std::vector<model::SettingRow>;

}  // namespace

TEST_CASE("settings: a version comes back as it went in, also when its batch is repeated") {
  ON_EACH_STORE(on, led_backends()) {
    const SettingRows rows{some_setting("catch_up.rate", 1, 5), some_setting("catch_up.rate", 2, std::nullopt),
                           some_setting("logs.limit_bytes", 1, std::int64_t{1} << 50)};
    for (int i = 0; i < 3; ++i) apply_settings(on, rows);
    CHECK(*on.reader->setting_versions("") == rows);
    CHECK(*on.reader->setting_versions("catch_up.rate") == SettingRows{rows[0], rows[1]});
    CHECK(on.reader->setting_versions("nothing")->empty());
  }
}

TEST_CASE("settings: lists and a new Term have the newest version of each") {
  ON_EACH_STORE(on, led_backends()) {
    const auto rate = some_setting("catch_up.rate", 2, 7), tries = some_setting("notify.tries", 1, 3);
    apply_settings(on, {some_setting("catch_up.rate", 1, 5), tries});
    apply_settings(on, {rate});
    CHECK(*on.reader->newest_settings() == SettingRows{rate, tries});
    const auto all = on.office->recover();
    REQUIRE(all);
    SettingRows recovered = all->settings;
    std::ranges::sort(recovered, {}, &model::SettingRow::name);
    CHECK(recovered == SettingRows{rate, tries});
  }
}

TEST_CASE("settings: the marks name the newest change") {
  ON_EACH_STORE(on, led_backends()) {
    CHECK(on.office->read_marks()->newest_setting == 0);
    apply_settings(on, {some_setting("catch_up.rate", 1, 5), some_setting("catch_up.rate", 2, 6)});
    CHECK(on.office->read_marks()->newest_setting == some_setting("", 2, 0).number);
    apply_settings(on, {some_setting("a.of.a.newer.master", 3, 6)});
    CHECK(on.office->read_marks()->newest_setting == some_setting("", 3, 0).number);
  }
}
