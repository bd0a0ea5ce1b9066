#include "master/core/tables/setting_table.h"

#include <utility>

#include "common/model/setting_fields.h"

namespace rota::master::core {

const model::SettingRow* SettingTable::find(const std::string& name) const {
  const auto found = newest_.find(name);
  return found == newest_.end() ? nullptr : &found->second;
}

std::vector<model::SettingRow> SettingTable::newest() const {
  std::vector<model::SettingRow> rows;
  for (const auto& [name, row] : newest_) rows.push_back(row);
  return rows;
}

model::Settings SettingTable::with(const model::SettingRow& row) const {
  std::vector<model::SettingRow> rows;
  for (const auto& [name, known] : newest_) {
    if (name != row.name) rows.push_back(known);
  }
  rows.push_back(row);
  return model::with_rows(file_, rows);
}

void SettingTable::put(model::SettingRow row) {
  in_force_ = with(row);
  newest_.insert_or_assign(row.name, std::move(row));
}

}  // namespace rota::master::core
