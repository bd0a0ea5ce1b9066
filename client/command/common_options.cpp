// The options that every command has, and how a command is performed: which cluster it asks, in which form it
// prints, once or again and again.
#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "client/command/command_line.h"
#include "client/command/command_words.h"
#include "common/base/duration_text.h"

namespace rota::client {
namespace {

constexpr Millis kCompletionDeadline{1000};
constexpr Millis kShortestInterval{100};
constexpr Millis kLongestInterval{86'400'000};

struct FormatName {
  const char* name;
  Format format;
};
constexpr FormatName kFormats[] = {{"table", Format::Table}, {"wide", Format::Wide}, {"json", Format::Json},
                                   {"yaml", Format::Yaml},   {"csv", Format::Csv}};

std::vector<std::string> format_names() {
  std::vector<std::string> out;
  for (const FormatName& one : kFormats) out.emplace_back(one.name);
  return out;
}

Format format_named(const std::string& name) {
  for (const FormatName& one : kFormats) {
    if (name == one.name) return one.format;
  }
  return Format::Table;
}

void set_cluster(CommandLine& line) {
  line.cluster.masters = line.target["masters"].empty() ? std::vector<std::string>{}
                                                        : CLI::detail::split(line.target["masters"], ',');
  line.cluster.zookeeper = line.target["zookeeper"];
  line.cluster.cluster = line.target["cluster"];
}

/// What stands on the line, and no more.
SaidSettings said_on(const CommandLine& line) {
  SaidSettings out;
  for (const auto& [name, option] : line.given) {
    if (option->count() > 0) out[name] = line.said.at(name);
  }
  return out;
}

/// The value of an option among unfinished words; empty: it is not there.
void find_said(const std::vector<std::string>& words, const std::string& option, const std::string& name,
               SaidSettings& out) {
  for (std::size_t i = 0; i + 1 < words.size() && words[i] != "--"; ++i) {
    if (words[i] == option && i + 2 < words.size()) out[name] = words[i + 1];
    if (words[i].starts_with(option + "=")) out[name] = words[i].substr(option.size() + 1);
  }
}

Result<Millis> interval_from(const std::string& text) {
  const auto interval = parse_duration(text);
  if (interval && *interval >= kShortestInterval && *interval <= kLongestInterval) return *interval;
  return fail(ErrorCode::InvalidArgument,
              fmt::format("--interval takes a duration from {} to 1d, not '{}'",
                          format_duration(kShortestInterval), printable(text)));
}

Result<std::vector<RowCondition>> conditions_from(const std::vector<std::string>& texts) {
  std::vector<RowCondition> out;
  for (const std::string& text : texts) {
    const auto condition = row_condition_from(text);
    if (!condition) return fail(condition.error());
    out.push_back(*condition);
  }
  return out;
}

}  // namespace

CLI::App* watchable(CLI::App* app, CommandLine& line) {
  CLI::Option* watch = app->add_flag("--watch,-w", line.watch, "show it again and again, until Ctrl-C");
  app->add_option("--interval", line.interval, "with --watch: look again after this time, e.g. 500ms")
      ->needs(watch)
      ->capture_default_str();
  return app;
}

CLI::App* listing(CLI::App* app, CommandLine& line) {
  app->add_option("--where", line.where,
                  "only rows that are so, by a value that -o json shows: KEY=VALUE or KEY!=VALUE, with\n"
                  "* for any text (repeatable: values of one key are alternatives, all keys must fit)")
      ->allow_extra_args(false);
  return watchable(app, line);
}

CLI::Option* where_option(CLI::App* list, CommandLine& line, const std::string& name, const std::string& key,
                          const std::string& help) {
  return list
      ->add_option_function<std::vector<std::string>>(
          name,
          [&line, key](const std::vector<std::string>& values) {
            for (const std::string& value : values) line.where.push_back(key + "=" + value);
          },
          help)
      ->allow_extra_args(false)
      ->delimiter(',');
}

void add_common(CLI::App& app, CommandLine& line) {
  line.given["context"] = app.add_option("--context", line.said["context"],
                                         "a named cluster, see `rota context --help` (ROTA_CONTEXT)");
  for (const ContextSetting& setting : context_settings()) {
    const std::string built_in = setting.built_in.empty() ? "" : ", else " + setting.built_in;
    line.given[setting.name] =
        app.add_option(setting.option, line.said[setting.name],
                       fmt::format("{} ({}{})", setting.help, setting.environment, built_in))
            ->join(',');
  }
  app.add_option("--deadline", line.deadline, "how long to try, e.g. 30s")->capture_default_str();
  app.add_option("-o,--output", line.format, "table, wide, json, yaml or csv")
      ->check(CLI::IsMember(format_names()))
      ->capture_default_str();
}

/// Accepts -o, --masters and the like after the subcommand too.
void fall_through(CLI::App& app) {
  app.fallthrough();
  for (CLI::App* sub : app.get_subcommands({})) fall_through(*sub);
}

/// The words after it are not checked against the tables: they are unfinished.
int complete_words(const CLI::App& app, CommandLine& line, const std::vector<std::string>& words) {
  SaidSettings said;
  find_said(words, "--context", "context", said);
  for (const ContextSetting& setting : context_settings()) {
    find_said(words, setting.option, setting.name, said);
  }
  if (auto target = target_of(said)) line.target = std::move(*target);
  if (!line.target.settings.empty()) set_cluster(line);
  line.cluster.deadline = kCompletionDeadline;
  Cluster cluster(line.cluster);
  Desk desk{.cluster = cluster};
  if (!line.target.settings.empty()) desk.space = line.target["namespace"];
  return print_completions(desk, command_words(app), words);
}

int perform(CommandLine& line) {
  auto deadline = parse_duration(line.deadline);
  if (!deadline || deadline->count() <= 0) {
    return complain(Error(ErrorCode::InvalidArgument, "--deadline takes a duration such as 30s"));
  }
  const auto interval = interval_from(line.interval);
  if (!interval) return complain(interval.error());
  auto where = conditions_from(line.where);
  if (!where) return complain(where.error());
  line.context.options = said_on(line);
  auto target = line.is_local ? choose_target({}, {}, {}, "") : target_of(line.context.options);
  if (!target) return complain(target.error());
  line.target = std::move(*target);
  set_cluster(line);
  line.cluster.deadline = *deadline;
  Cluster cluster(line.cluster);
  Desk desk{cluster, format_named(line.format), line.target["namespace"], std::move(*where),
            line.target.words()};
  return status_of_output(line.watch ? watch(desk, line.command, *interval) : line.command(desk));
}

}  // namespace rota::client
