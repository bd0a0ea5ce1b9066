// What a master knows of settings: what its file says, and what was set.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/model/setting.h"

namespace rota::master::api {

struct SettingsView {
  model::Settings file;                     ///< master.yaml and the environment, over what is built in
  std::set<std::string> given;              ///< the names that these say
  std::vector<model::SettingRow> rows;      ///< of each setting that was ever set the newest
};

}  // namespace rota::master::api
