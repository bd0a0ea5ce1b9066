#include "master/upkeep/settings_in_force.h"

#include <algorithm>
#include <utility>

#include "common/base/log.h"
#include "common/model/setting_fields.h"

namespace rota::master {
namespace {

std::string text_of(const model::SettingRow& row) {
  const model::SettingField* field = model::find_setting(row.name);
  if (!row.value) return "default";
  return field == nullptr ? std::to_string(*row.value) : model::setting_text(*field, *row.value);
}

void tell_change(const FileSettings& file, const model::SettingRow& row) {
  const model::SettingField* field = model::find_setting(row.name);
  if (field == nullptr) {
    log_warn("settings", "a newer master has a setting that this one does not know",
             {{"setting", row.name}});
    return;
  }
  log_info(
      "settings", "a setting is in force",
      {{"setting", row.name}, {"value", text_of(row)}, {"version", row.version}, {"by", row.principal}});
  const std::int64_t says = field->get(file.values);
  if (!row.value || !file.given.contains(row.name) || says == *row.value) return;
  log_warn("settings", "what this master's file says is overridden; see: rota setting get",
           {{"setting", row.name}, {"file", model::setting_text(*field, says)}, {"value", text_of(row)}});
}

}  // namespace

model::Settings SettingsInForce::values() const {
  std::scoped_lock lock(mutex_);
  return values_;
}

SettingsInForce::Rows SettingsInForce::rows() const {
  std::scoped_lock lock(mutex_);
  return rows_;
}

void SettingsInForce::put(const Rows& rows) {
  std::scoped_lock lock(mutex_);
  Rows all = rows_;
  for (const model::SettingRow& row : rows) {
    std::erase_if(all, [&](const model::SettingRow& known) { return known.name == row.name; });
    all.push_back(row);
  }
  replace(std::move(all));
}

void SettingsInForce::begin(Rows rows) {
  std::scoped_lock lock(mutex_);
  replace(std::move(rows));
}

Result<void> SettingsInForce::follow(std::int64_t newest, const std::function<Result<Rows>()>& read) {
  std::int64_t words = 0;
  {
    std::scoped_lock lock(mutex_);
    if (newest == newest_) return {};
    words = words_;
  }
  auto rows = read();
  if (!rows) return fail(rows.error());
  std::scoped_lock lock(mutex_);
  if (words == words_) replace(std::move(*rows));
  return {};
}

/// A database that went back may have older ones: what it holds counts.
void SettingsInForce::replace(Rows rows) {
  ++words_;
  std::ranges::sort(rows, {}, &model::SettingRow::name);
  newest_ = 0;
  for (const model::SettingRow& row : rows) {
    newest_ = std::max(newest_, row.number);
    if (std::ranges::find(rows_, row) == rows_.end()) tell_change(file_, row);
  }
  rows_ = std::move(rows);
  const model::Settings values = model::with_rows(file_.values, rows_);
  if (std::exchange(values_, values) == values) return;
  for (const Changed& changed : listeners_) changed(values_);
}

}  // namespace rota::master
