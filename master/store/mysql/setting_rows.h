// Versions of settings as rows.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/model/setting.h"
#include "master/store/mysql/batch_text.h"
#include "master/store/mysql/connection.h"

namespace rota::master::store {

/// Of the table under the alias s, for read_setting.
inline constexpr std::string_view kSettingColumns =
    "s.name, s.version, s.value, s.changed_ms, s.change_number, s.principal, s.why";

/// Only the newest version of each stays, when this stands behind the columns.
inline constexpr std::string_view kNewestSettings =
    "FROM setting_version s JOIN (SELECT name, MAX(version) AS newest FROM setting_version GROUP BY name) n "
    "ON n.name = s.name AND n.newest = s.version ORDER BY s.name";

/// A row that stands stays as it is: the same batch again.
void write_settings(BatchText& batch, const std::vector<model::SettingRow>& rows);

Result<model::SettingRow> read_setting(Row& row);

}  // namespace rota::master::store
