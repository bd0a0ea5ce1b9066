// Settings that may be changed while the cluster runs, against the keys of master.yaml with the same names.
#include <doctest/doctest.h>

#include <algorithm>

#include "common/config/load.h"
#include "common/config/options_table.h"
#include "common/model/setting_fields.h"

using namespace rota;
using namespace rota::config;

TEST_CASE("settings: a key of master.yaml that may be changed while it runs has the same range and default there") {
  MasterOptions options;
  int shared = 0;
  for (const Setting& setting : settings_of(options)) {
    const model::SettingField* field = model::find_setting(setting.key);
    if (field == nullptr) continue;
    CAPTURE(setting.key);
    ++shared;
    const auto* whole = std::get_if<WholeField>(&setting.field);
    REQUIRE(whole != nullptr);
    CHECK(whole->min == field->min);
    CHECK(whole->max == field->max);
    CHECK(whole->get() == model::default_of(*field));
    CHECK(setting.unit() == name_of(field->unit));
    CHECK(whole_values(options).at(setting.key) == model::default_of(*field));
  }
  CHECK(shared == 9);
}

TEST_CASE("settings: the keys that the file or the environment says are known") {
  const auto options = load_master("", {{"ROTA_CATCH_UP_RATE", "7"}, {"ROTA_WORKERS_DEAD_AFTER_MS", "600000"}});
  REQUIRE(options);
  CHECK(options->given == std::vector<std::string>{"catch_up.rate", "workers.dead_after_ms"});
  CHECK(whole_values(*options).at("catch_up.rate") == 7);
}
