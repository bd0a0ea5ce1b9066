// `rota setting`: what operators change while the cluster runs.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/command/commands.h"
#include "client/command/listing.h"

namespace rota::client {
namespace {

nlohmann::json setting_json(const thrift::SettingInfo& info) {
  nlohmann::json out = {
      {"setting", info.name},
      {"value", info.value},
      {"unit", info.unit},
      {"text", info.text},
      {"source", info.source},
      {"version", info.version},
      {"default", info.default_value},
      {"file", info.__isset.file_value ? nlohmann::json(info.file_value) : nlohmann::json()},
      {"least", info.least},
      {"most", info.most},
      {"acts", info.acts},
      {"meaning", info.meaning}};
  if (info.version == 0) return out;
  out["changed_at_ms"] = info.changed_ms;
  out["changed_by"] = info.changed_by;
  out["why"] = info.why;
  out["epoch"] = info.epoch;
  return out;
}

nlohmann::json version_json(const thrift::SettingVersion& row) {
  return {{"setting", row.name},
          {"version", row.version},
          {"value", row.__isset.value ? nlohmann::json(row.value) : nlohmann::json()},
          {"text", row.text},
          {"changed_at_ms", row.changed_ms},
          {"changed_by", row.changed_by},
          {"why", row.why},
          {"epoch", row.epoch}};
}

/// What was set hides what the file says.
std::string source_of(const thrift::SettingInfo& info) {
  const bool hides_file = info.source == "setting" && info.__isset.file_value;
  return hides_file ? "setting (the file is overridden)" : info.source;
}

std::string setting_change_of(const thrift::SettingInfo& info) {
  if (info.version == 0) return "-";
  return fmt::format("{} by {}{}", show_time(info.changed_ms), printable(info.changed_by),
                     info.why.empty() ? "" : ": " + printable(info.why));
}

std::string one_setting(const thrift::SettingInfo& info) {
  std::string text = fmt::format("{}: {}\n  source   {}\n", info.name, info.text, source_of(info));
  if (info.version > 0) text += fmt::format("  version  {}, {}\n", info.version, setting_change_of(info));
  return text + fmt::format("  allowed  {}\n  acts on  {}\n  meaning  {}\n", info.allowed, info.acts,
                            info.meaning);
}

int tell_edited(Desk& desk, const std::string& name, const Result<thrift::SettingEdited>& edited) {
  if (!edited) return complain(edited.error());
  if (desk.prints_data()) {
    print_data(
        desk.format,
        {{"setting", name}, {"version", edited->version}, {"what", edited->what}, {"text", edited->text}});
    return kOk;
  }
  print_text(fmt::format("setting {} {}: {} (version {})\n", printable(name), edited->what, edited->text,
                         edited->version));
  return kOk;
}

thrift::SettingEdit setting_edit_of(const SettingArguments& arguments) {
  thrift::SettingEdit edit;
  edit.__set_name(arguments.name);
  edit.__set_value(arguments.value);
  edit.__set_why(arguments.why);
  if (arguments.if_version >= 0) edit.__set_expected_version(arguments.if_version);
  return edit;
}

}  // namespace

int setting_get(Desk& desk, const SettingArguments& arguments) {
  const auto all = desk.cluster.list_settings(arguments.name, arguments.here);
  if (!all) return complain(all.error());
  if (!arguments.name.empty()) {
    if (desk.prints_data()) {
      print_data(desk.format, setting_json(all->at(0)));
    } else {
      print_text(one_setting(all->at(0)));
    }
    return kOk;
  }
  Listing list(desk, {"SETTING", "VALUE", "SOURCE", "VERSION", "CHANGED"});
  for (const auto& info : *all) {
    const std::string version = info.version == 0 ? "-" : std::to_string(info.version);
    const bool goes_on = list.add([&] { return setting_json(info); },
                                  {info.name, info.text, source_of(info), version, setting_change_of(info)});
    if (!goes_on) break;
  }
  return list.finish();
}

int setting_set(Desk& desk, const SettingArguments& arguments) {
  return tell_edited(desk, arguments.name, desk.cluster.set_setting(setting_edit_of(arguments)));
}

int setting_rollback(Desk& desk, const SettingArguments& arguments) {
  thrift::SettingEdit edit = setting_edit_of(arguments);
  edit.__set_to_version(arguments.to);
  return tell_edited(desk, arguments.name, desk.cluster.set_setting(edit));
}

int setting_history(Desk& desk, const SettingArguments& arguments) {
  const auto rows = desk.cluster.setting_history(arguments.name);
  if (!rows) return complain(rows.error());
  Listing list(desk, {"SETTING", "VERSION", "VALUE", "CHANGED", "BY", "EPOCH", "WHY"});
  for (const auto& row : *rows) {
    const bool goes_on = list.add([&] { return version_json(row); },
                                  {row.name, std::to_string(row.version), row.text, show_time(row.changed_ms),
                                   printable(row.changed_by), std::to_string(row.epoch), printable(row.why)});
    if (!goes_on) break;
  }
  return list.finish();
}

}  // namespace rota::client
