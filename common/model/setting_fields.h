// The table of settings that operators change while the cluster runs: one row for each member of Settings.
// To add one: the member with its default (setting.h), a row here, a row in docs/settings.md, and the code
// that acts on it. Where master.yaml has a key of the same name, it has the same range and default there (a
// test compares them). Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/setting.h"

namespace rota::model {

/// What values of a setting are, and how people write them.
enum class SettingUnit {
  Count,    ///< "20"
  Percent,  ///< "90"
  Time,     ///< "10m"; a plain number is milliseconds
  Size      ///< "100GiB"; a plain number is bytes
};
/// "", "percent", "ms", "bytes".
std::string_view name_of(SettingUnit unit);

/// Which masters act on it.
enum class SettingPlace { Leader, EveryMaster };
/// "leader", "every master".
std::string_view name_of(SettingPlace place);

struct SettingField {
  std::string_view name;  ///< as in master.yaml: with the unit as its last word
  SettingUnit unit = SettingUnit::Count;
  std::int64_t min = 0, max = 0;
  SettingPlace acts = SettingPlace::Leader;
  std::string_view meaning;
  std::int64_t (*get)(const Settings&) = nullptr;
  void (*set)(Settings&, std::int64_t) = nullptr;
};

/// In the order of the documents.
std::span<const SettingField> setting_fields();
/// null: there is none.
const SettingField* find_setting(std::string_view name);
/// NotFound, with the nearest name.
Error unknown_setting(const std::string& name);
std::int64_t default_of(const SettingField& field);

/// "10m", "20", "90 %", "100GiB".
std::string setting_text(const SettingField& field, std::int64_t value);
/// "1s to 30d".
std::string allowed_text(const SettingField& field);
/// Reads what people write. InvalidArgument names the setting, the value and what is allowed.
Result<std::int64_t> read_setting(const SettingField& field, const std::string& text);
/// Whether a number is in its range; the same words.
Result<void> check_setting(const SettingField& field, std::int64_t value);

/// What is wrong with values that are fine one by one; empty: nothing.
std::string why_not_together(const Settings& settings);

/// Puts these rows over the values. A row without a value leaves what stands; a name that this program does
/// not know (a newer one stored it) is left out; a value beyond the range that this program knows is cut to
/// it.
Settings with_rows(Settings settings, const std::vector<SettingRow>& rows);

}  // namespace rota::model
