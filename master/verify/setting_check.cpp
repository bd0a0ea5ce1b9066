#include "master/verify/setting_check.h"

#include <algorithm>
#include <map>

#include "common/model/setting_fields.h"
#include "master/verify/findings.h"

namespace rota::master::verify {
namespace {

using Rows = std::vector<model::SettingRow>;

/// Of one setting, oldest first.
void look_at_versions(const Rows& rows, Check& check) {
  const model::SettingField* field = model::find_setting(rows.front().name);  // null: of a newer master
  std::int32_t expected = 1;
  std::int64_t number = 0;
  for (const model::SettingRow& row : rows) {
    ++check.planned;
    if (row.version != expected) {
      miss(check,
           fmt::format("setting {}: version {} is followed by {}", row.name, expected - 1, row.version));
    }
    if (row.number <= number) {
      wrong(check, fmt::format("setting {}: version {} was changed before the version before it", row.name,
                               row.version));
    }
    if (field != nullptr && row.value && !model::check_setting(*field, *row.value)) {
      wrong(check, fmt::format("setting {}: version {} has the value {}, allowed are {}", row.name,
                               row.version, *row.value, model::allowed_text(*field)));
    }
    expected = row.version + 1;
    number = row.number;
  }
}

void look_at_force(const model::SettingRow& newest, const Rows& in_force, const Request& request,
                   Check& check) {
  const bool is_young = !request.now || newest.changed + kSettingInForceWithin > *request.now;
  const auto known = std::ranges::find(in_force, newest.name, &model::SettingRow::name);
  const std::int32_t version = known == in_force.end() ? 0 : known->version;
  if (version == newest.version || (is_young && version < newest.version)) return;
  wrong(check, fmt::format("setting {}: version {} is in force on this master, the newest is {}",
                           newest.name, version, newest.version));
}

}  // namespace

/// What is in force is asked first: a change that comes meanwhile is newer, and young.
Result<void> look_at_settings(const Sources& sources, const Request& request, Check& check) {
  const Rows in_force = sources.settings ? sources.settings() : Rows{};
  const auto rows = sources.reader.setting_versions("");
  if (!rows) return fail(rows.error());
  std::map<std::string, Rows> by_name;
  for (const model::SettingRow& row : *rows) by_name[row.name].push_back(row);
  for (const auto& [name, versions] : by_name) {
    look_at_versions(versions, check);
    if (sources.settings) look_at_force(versions.back(), in_force, request, check);
  }
  return {};
}

}  // namespace rota::master::verify
