#include "setting_judge.h"

#include <algorithm>
#include <limits>

#include "common/model/setting_fields.h"

namespace rota::sim {
namespace {

using Versions = std::map<std::pair<std::string, std::int32_t>, model::SettingRow>;

const model::SettingRow* newest_of(const Versions& versions, const std::string& name) {
  const auto behind = versions.upper_bound({name, std::numeric_limits<std::int32_t>::max()});
  if (behind == versions.begin()) return nullptr;
  const model::SettingRow& row = std::prev(behind)->second;
  return row.name == name ? &row : nullptr;
}

std::int64_t value_or_file(const model::SettingField& field, std::optional<std::int64_t> value,
                           const model::Settings& file) {
  return value.value_or(field.get(file));
}

}  // namespace

std::string SettingJudge::judge_batch(const SimTables& tables, const master::core::Changes& changes) const {
  Versions versions = tables.settings;
  for (const model::SettingRow& row : changes.settings) {
    if (versions.contains({row.name, row.version})) continue;  // a repeated batch
    const model::SettingRow* before = newest_of(versions, row.name);
    const std::string what = "P46: version " + std::to_string(row.version) + " of setting " + row.name;
    if (row.version != (before == nullptr ? 1 : before->version + 1)) return what + " leaves a hole";
    if (before != nullptr && row.number <= before->number) return what + " has a lower number than the one before";
    versions.emplace(std::pair{row.name, row.version}, row);
  }
  return "";
}

std::string SettingJudge::judge_takeover(const SimTables& tables, const model::Settings& file,
                                         const model::Settings& in_force) const {
  for (const model::SettingField& field : model::setting_fields()) {
    const model::SettingRow* row = newest_of(tables.settings, std::string(field.name));
    const std::int64_t wanted = value_or_file(field, row == nullptr ? std::nullopt : row->value, file);
    if (row != nullptr && row->value) marks_.hit("setting_goes_on_in_a_new_term");
    if (field.get(in_force) == wanted) continue;
    return "P46: a new leader goes by " + std::to_string(field.get(in_force)) + " for " + std::string(field.name) +
           ", not by " + std::to_string(wanted);
  }
  return "";
}

/// The core may be a few changes ahead, which wait to be stored: what was asked for behind this one.
std::string SettingJudge::judge_told(const SimTables& tables, const std::vector<model::SettingRow>& rows,
                                     const model::Settings& in_force, const model::Settings& file,
                                     bool is_lossy) {
  for (const model::SettingRow& row : rows) {
    const model::SettingField* field = model::find_setting(row.name);
    if (field == nullptr) return "P46: a setting is stored that nobody knows: " + row.name;
    const auto stored = tables.settings.find({row.name, row.version});
    const bool is_stored = stored != tables.settings.end() && stored->second == row;
    if (!is_stored && !is_lossy) return "P46: setting " + row.name + " is acted on before it is stored";
    const std::int64_t now = field->get(in_force);
    Asked& asked = asked_[row.name];
    const auto from = std::find(asked.values.begin() + static_cast<std::ptrdiff_t>(asked.told),
                                asked.values.end(), row.value);
    if (is_lossy || from == asked.values.end()) continue;
    asked.told = static_cast<std::size_t>(from - asked.values.begin());
    const bool is_ahead = std::any_of(from, asked.values.end(), [&](const auto& value) {
      return now == value_or_file(*field, value, file);
    });
    if (!is_ahead) {
      return "P46: the leader goes by " + std::to_string(now) + " for " + row.name + ", and not by version " +
             std::to_string(row.version);
    }
  }
  return "";
}

}  // namespace rota::sim
