// The table of settings: each row is whole, documented, and refuses what is out of its range by name, value and range.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <set>

#include "common/model/setting_fields.h"

using namespace rota;
using namespace rota::model;

namespace {

std::string message_of(const SettingField& field, const std::string& text) {
  const auto read = read_setting(field, text);
  return read ? "it is allowed" : read.error().message;
}

SettingRow a_row(const char* name, std::optional<std::int64_t> value) {
  SettingRow row;
  row.name = name;
  row.value = value;
  return row;
}

/// Its line in the table of docs/settings.md.
std::string page_line(const SettingField& field) {
  return fmt::format("| `{}` | {} | {} | `{}` | {} |", field.name, field.meaning, allowed_text(field),
                     setting_text(field, default_of(field)), name_of(field.acts));
}

}  // namespace

TEST_CASE("settings: each row of the table is whole, and reads back what it shows") {
  std::set<std::string_view> names;
  for (const SettingField& field : setting_fields()) {
    CAPTURE(field.name);
    CHECK(names.insert(field.name).second);
    CHECK(field.name.size() <= kMaxSettingName);
    CHECK(find_setting(field.name) == &field);
    CHECK(!field.meaning.empty());
    CHECK(field.min < field.max);
    CHECK(check_setting(field, default_of(field)));
    const bool has_unit = field.unit == SettingUnit::Time ? field.name.ends_with("_ms")
                          : field.unit == SettingUnit::Size    ? field.name.ends_with("_bytes")
                          : field.unit == SettingUnit::Percent ? field.name.ends_with("_percent")
                                                               : true;
    CHECK(has_unit);
    Settings settings;
    for (const std::int64_t value : {field.min, field.max, default_of(field)}) {
      field.set(settings, value);
      CHECK(field.get(settings) == value);
      std::string shown = setting_text(field, value);
      if (field.unit == SettingUnit::Percent) shown.resize(shown.size() - 2);
      CHECK(read_setting(field, shown) == value);
      CHECK(read_setting(field, std::to_string(value)) == value);
    }
    CHECK(settings == Settings{});
  }
}

TEST_CASE("settings: each row refuses values beyond its range by name, value and range") {
  for (const SettingField& field : setting_fields()) {
    CAPTURE(field.name);
    const std::string range = allowed_text(field);
    const std::int64_t above = field.max + 1;
    CHECK(message_of(field, std::to_string(above)) ==
          fmt::format("{}: {} is out of range, allowed are {}", field.name, setting_text(field, above), range));
    if (field.min > 0) {
      CHECK(message_of(field, std::to_string(field.min - 1)) ==
            fmt::format("{}: {} is out of range, allowed are {}", field.name, setting_text(field, field.min - 1), range));
    }
    for (const char* text : {"", "much", "-1", "12 parsecs", "99999999999999999999"}) {
      const auto read = read_setting(field, text);
      REQUIRE(!read);
      CHECK(read.error().code == ErrorCode::InvalidArgument);
      CHECK(read.error().message.starts_with(std::string(field.name) + ": \"" + text + "\" is not "));
      CHECK(read.error().message.ends_with("; allowed are " + range));
    }
  }
}

TEST_CASE("settings: each row stands in docs/settings.md as it is") {
  std::ifstream page(ROTA_SETTINGS_PAGE);
  const std::string text((std::istreambuf_iterator<char>(page)), std::istreambuf_iterator<char>());
  for (const SettingField& field : setting_fields()) {
    const std::string line = page_line(field);
    CHECK_MESSAGE(text.find(line + "\n") != std::string::npos, "docs/settings.md lacks this line:\n", line);
  }
}

TEST_CASE("settings: examples of values and messages") {
  const SettingField& dead = *find_setting("workers.dead_after_ms");
  CHECK(read_setting(dead, "10m") == 600'000);
  CHECK(read_setting(dead, "600000") == 600'000);
  CHECK(message_of(dead, "soon") == "workers.dead_after_ms: \"soon\" is not a time such as 10m, or a number of "
                                    "milliseconds; allowed are 1s to 30d");
  CHECK(message_of(dead, "10ms") == "workers.dead_after_ms: 10ms is out of range, allowed are 1s to 30d");
  CHECK(read_setting(*find_setting("logs.limit_bytes"), "100GiB") == std::int64_t{100} << 30);
  CHECK(unknown_setting("workers.dead_after").message ==
        "no setting \"workers.dead_after\" (did you mean workers.dead_after_ms?); rota setting get names them");
}

TEST_CASE("settings: what does not go together is named, with what to do first") {
  Settings settings;
  CHECK(why_not_together(settings).empty());
  settings.away_band_2 = settings.away_band_3;
  CHECK(why_not_together(settings) == "workers.away_band_1_ms 1m, workers.away_band_2_ms 10m and "
                                      "workers.away_band_3_ms 10m must rise; change the others first");
  settings = {};
  settings.scale_down_percent = 80;
  CHECK(why_not_together(settings) ==
        "autoscale.down_percent 80 must be less than autoscale.up_percent 80; change the other first");
  settings = {};
  settings.load_cpu = settings.load_memory = 0;
  CHECK(why_not_together(settings).empty());
  settings.load_slots = 0;
  CHECK(why_not_together(settings).find("are all 0") != std::string::npos);
}

TEST_CASE("settings: rows are put over the file; unknown names are left out, and ranges hold") {
  Settings file;
  file.catch_up_rate = 7;
  const Settings now = with_rows(file, {a_row("catch_up.rate", 3), a_row("workers.dead_after_ms", 5),
                                        a_row("of.a.newer.master", 9), a_row("notify.tries", std::nullopt)});
  Settings expected = file;
  expected.catch_up_rate = 3;
  expected.dead_after = Millis{1000};
  CHECK(now == expected);
  CHECK(with_rows(file, {a_row("catch_up.rate", std::nullopt)}) == file);
}
