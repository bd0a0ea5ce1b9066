// The command line of `rota setting`.
#include "client/command/command_line.h"

namespace rota::client {

void add_setting(CLI::App& app, CommandLine& line) {
  CLI::App* setting = app.add_subcommand("setting", "what may be changed while the cluster runs");
  setting->require_subcommand(1);
  const auto with = [&line](int (*command)(Desk&, const SettingArguments&)) {
    return [&line, command](Desk& desk) { return command(desk, line.setting); };
  };
  const auto changes = [&line](CLI::App* sub) {
    sub->add_option("--why", line.setting.why, "reason, stored");
    sub->add_option("--if-version", line.setting.if_version,
                    "only if this is its version; 0: it was never set")
        ->check(CLI::Range(0, 2'000'000'000));
  };
  CLI::App* get =
      add(*setting, line, "get", "values in force, and where they come from", with(setting_get));
  get->add_option("setting", line.setting.name, "only this one");
  get->add_flag("--here", line.setting.here,
                "as the first of --masters that answers has them, not the leader");
  listing(get, line);
  CLI::App* set =
      add(*setting, line, "set", "change it on all masters, within a second", with(setting_set));
  set->add_option("setting", line.setting.name, "its name")->required();
  set->add_option("value", line.setting.value, "like 20, 10m or 100GiB; default: what master.yaml says")
      ->required();
  changes(set);
  CLI::App* history = add(*setting, line, "history", "all versions: who, when, why", with(setting_history));
  listing(history, line)->add_option("setting", line.setting.name, "only of this one");
  CLI::App* rollback = add(*setting, line, "rollback",
                           "give it the value of an earlier version, as a new one", with(setting_rollback));
  rollback->add_option("setting", line.setting.name, "its name")->required();
  rollback->add_option("--to", line.setting.to, "that version; 0: what master.yaml says (the one before)")
      ->check(CLI::Range(0, 2'000'000'000));
  changes(rollback);
}

}  // namespace rota::client
