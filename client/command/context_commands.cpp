// The command line of `rota context`.
#include "client/command/command_line.h"

namespace rota::client {

void add_context(CLI::App& app, CommandLine& line) {
  CLI::App* context = app.add_subcommand("context", "named clusters, in your own file");
  context->require_subcommand(1);
  context->preparse_callback([&line](std::size_t) { line.is_local = true; });
  context->footer("The file is $XDG_CONFIG_HOME/rota/config.yaml, else ~/.config/rota/config.yaml. A\n"
                  "context says what neither an option nor the environment says.");
  const auto add_one = [&](const std::string& name, const std::string& help,
                           int (*command)(Desk&, const ContextArguments&)) {
    CLI::App* sub = add(*context, line, name, help,
                        [&line, command](Desk& desk) { return command(desk, line.context); });
    sub->add_option("context", line.context.name, "the context's name")->required();
    return sub;
  };
  listing(add(*context, line, "list", "all contexts; * marks the current one",
              [&line](Desk& desk) { return context_list(desk, line.name); }), line)
      ->add_option("prefix", line.name, "only names that begin so");
  listing(add_one("show", "one context; without a name: what a command would use, and who says so",
                  context_show),
          line)
      ->get_option("context")
      ->required(false);
  add_one("use", "make it the current one, used when nothing else is said", context_use);
  add_one("set", "make or change it: rota context set prod --zookeeper zk1:2181 --namespace finance",
          context_set)
      ->add_option("--unset", line.context.unset, "remove this from it: masters, zookeeper, ... (repeatable)")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->check(CLI::IsMember([] {
        std::vector<std::string> names;
        for (const ContextSetting& setting : context_settings()) names.push_back(setting.name);
        return names;
      }()));
  add_one("delete", "remove it from the file, after asking", context_delete)
      ->add_flag("--yes,-y", line.context.yes, "do not ask");
}

}  // namespace rota::client
