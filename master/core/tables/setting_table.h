// Settings that were set while the cluster ran: of each the newest version, and what is in force with them
// over what master.yaml says.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/model/setting.h"

namespace rota::master::core {

/// Thread: the Scheduler's. State alone changes it.
class SettingTable {
 public:
  explicit SettingTable(const model::Settings& file) : file_(file), in_force_(file) {}

  const model::Settings& in_force() const { return in_force_; }
  /// nullptr: it was never set.
  const model::SettingRow* find(const std::string& name) const;
  std::vector<model::SettingRow> newest() const;
  /// What would be in force with this row, which follows all others of its setting.
  model::Settings with(const model::SettingRow& row) const;

 private:
  friend class State;
  void put(model::SettingRow row);

  const model::Settings file_;
  model::Settings in_force_;
  std::map<std::string, model::SettingRow> newest_;
};

}  // namespace rota::master::core
