#include "master/store/mysql/setting_rows.h"

#include "master/store/mysql/multi_row.h"

namespace rota::master::store {
namespace {

const MultiRow kInsertSettings{
    "INSERT INTO setting_version (name, version, value, changed_ms, change_number, principal, why) VALUES",
    7, "ON DUPLICATE KEY UPDATE version = VALUES(version)"};

}  // namespace

void write_settings(BatchText& batch, const std::vector<model::SettingRow>& rows) {
  const auto bind = [&rows](Binder& binder, std::size_t i) {
    const model::SettingRow& row = rows[i];
    binder.text(row.name).integer(row.version);
    row.value ? binder.integer(*row.value) : binder.null();
    binder.time(row.changed).integer(row.number).text(row.principal).prose(row.why, model::kMaxSettingWhy);
  };
  batch.add_rows(kInsertSettings, {rows.size(), bind});
}

Result<model::SettingRow> read_setting(Row& row) {
  model::SettingRow out;
  out.name = row.text();
  out.version = static_cast<std::int32_t>(row.integer());
  out.value = row.maybe_integer();
  out.changed = row.time();
  out.number = row.integer();
  out.principal = row.text();
  out.why = row.text();
  return out;
}

}  // namespace rota::master::store
