// Settings: what is in force on this master, changes, and the history.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/utf8.h"
#include "common/model/setting_fields.h"
#include "master/api/edge.h"
#include "master/api/job_service.h"

namespace rota::master::api {
namespace {

constexpr std::string_view kDefault = "default";
constexpr std::int32_t kVersionBefore = -1;

std::string text_of(const std::string& name, const std::optional<std::int64_t>& value) {
  const model::SettingField* field = model::find_setting(name);
  if (!value) return std::string(kDefault);
  return field == nullptr ? std::to_string(*value) : model::setting_text(*field, *value);
}

std::int64_t epoch_in(const model::SettingRow& row) { return row.number >> kIdCounterBits; }

thrift::SettingVersion to_wire(const model::SettingRow& row) {
  thrift::SettingVersion out;
  out.__set_name(row.name);
  out.__set_version(row.version);
  if (row.value) out.__set_value(*row.value);
  out.__set_text(text_of(row.name, row.value));
  out.__set_changed_ms(to_ms(row.changed));
  out.__set_changed_by(row.principal);
  out.__set_why(row.why);
  out.__set_epoch(epoch_in(row));
  return out;
}

thrift::SettingInfo setting_info(const model::SettingField& field, const SettingsView& view) {
  const std::string name(field.name);
  const bool is_given = view.given.contains(name);
  const auto row = std::ranges::find(view.rows, name, &model::SettingRow::name);
  const bool is_set = row != view.rows.end() && row->value;
  const std::int64_t file = field.get(view.file);
  const std::int64_t value = field.get(model::with_rows(view.file, view.rows));
  thrift::SettingInfo out;
  out.__set_name(name);
  out.__set_value(value);
  out.__set_unit(std::string(name_of(field.unit)));
  out.__set_text(model::setting_text(field, value));
  out.__set_source(is_set ? "setting" : is_given ? "file" : "default");
  out.__set_default_value(model::default_of(field));
  if (is_given) out.__set_file_value(file);
  out.__set_least(field.min);
  out.__set_most(field.max);
  out.__set_allowed(model::allowed_text(field));
  out.__set_acts(std::string(name_of(field.acts)));
  out.__set_meaning(std::string(field.meaning));
  if (row == view.rows.end()) return out;
  out.__set_version(row->version);
  out.__set_changed_ms(to_ms(row->changed));
  out.__set_changed_by(row->principal);
  out.__set_why(row->why);
  out.__set_epoch(epoch_in(*row));
  return out;
}

Result<const model::SettingField*> field_named(const std::string& name) {
  const model::SettingField* field = model::find_setting(name);
  if (field == nullptr) return fail(model::unknown_setting(name));
  return field;
}

/// What that version of it said; the version that this was read from becomes the expected one.
Result<void> roll_back(store::Reader& reader, std::int32_t to, core::SetSetting& event) {
  const auto rows = reader.setting_versions(event.name);
  if (!rows) return fail(rows.error());
  const std::int32_t newest = rows->empty() ? 0 : rows->back().version;
  if (newest == 0) {
    return fail(ErrorCode::NotFound,
                fmt::format("setting {} was never set, so there is nothing to go back to", event.name));
  }
  if (to == kVersionBefore) to = newest - 1;
  if (!event.expected_version) event.expected_version = newest;
  event.value.reset();
  if (to == 0) return {};
  const auto row = std::ranges::find(*rows, to, &model::SettingRow::version);
  if (row == rows->end()) {
    return fail(ErrorCode::NotFound,
                fmt::format("setting {} has no version {}; it has 1 to {}: rota setting history {}",
                            event.name, to, newest, event.name));
  }
  event.value = row->value;
  return {};
}

Result<core::SetSetting> accept_setting(store::Reader& reader, const thrift::SettingEdit& edit,
                                        const std::string& principal) {
  const auto field = field_named(edit.name);
  if (!field) return fail(field.error());
  core::SetSetting event;
  event.principal = principal;
  event.name = edit.name;
  event.why = clean_text(edit.why, model::kMaxSettingWhy);
  if (edit.__isset.expected_version) event.expected_version = edit.expected_version;
  if (edit.__isset.to_version) {
    if (auto found = roll_back(reader, edit.to_version, event); !found) return fail(found.error());
  } else if (edit.value != kDefault) {
    const auto value = model::read_setting(**field, edit.value);
    if (!value) return fail(value.error());
    event.value = *value;
  }
  return event;
}

}  // namespace

void JobServiceHandler::set_setting(const Caller& caller, thrift::SettingEdited& out, const Head& head,
                                    const thrift::SettingEdit& edit) {
  const MonoTime deadline = deadline_of(head);
  if (desk_.leads()) {
    auto event = value_or_throw(accept_setting(parts_.reader, edit, caller.principal));
    const std::string text = text_of(event.name, event.value);
    const auto reply = value_or_throw(desk_.ask(std::move(event), deadline));
    const auto* applied = std::get_if<core::SettingApplied>(&reply);
    if (applied == nullptr) throw rpc::to_wire(unexpected_reply());
    out.__set_version(applied->version);
    out.__set_what(applied->changed ? "changed" : "unchanged");
    out.__set_text(text);
    return;
  }
  out = value_or_throw(pass_on(caller, head, deadline, [&](auto& client, const Head& onward) {
    thrift::SettingEdited answer;
    client.set_setting(answer, onward, edit);
    return answer;
  }));
}

/// By the leader, which has a change before it is acknowledged; `here`: as this master has them.
void JobServiceHandler::list_settings(const Caller& caller, std::vector<thrift::SettingInfo>& out,
                                      const Head& head, const std::string& name, bool here) {
  if (!name.empty()) (void)value_or_throw(field_named(name));
  if (!here && !desk_.leads() && parts_.leader.leader()) {
    out = value_or_throw(pass_on(caller, head, deadline_of(head), [&](auto& client, const Head& onward) {
      std::vector<thrift::SettingInfo> answer;
      client.list_settings(answer, onward, name, false);
      return answer;
    }));
    return;
  }
  const SettingsView view = parts_.settings ? parts_.settings() : SettingsView{};
  for (const model::SettingField& field : model::setting_fields()) {
    if (name.empty() || field.name == name) out.push_back(setting_info(field, view));
  }
}

void JobServiceHandler::setting_history(const Caller&, std::vector<thrift::SettingVersion>& out,
                                        const Head&, const std::string& name) {
  if (!name.empty()) (void)value_or_throw(field_named(name));
  for (const auto& row : value_or_throw(parts_.reader.setting_versions(name))) out.push_back(to_wire(row));
}

}  // namespace rota::master::api
