#include "client/command/man_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "client/command/exit_status.h"
#include "client/command/man_text.h"
#include "client/context_file.h"
#include "client/job_schema.h"
#include "common/config/options_table.h"

namespace rota::client {
namespace {

std::string in_one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

void put_options(ManText& page, const std::vector<OptionWord>& options) {
  for (const OptionWord& option : options) {
    if (option.names.front() == "--help") continue;
    const std::string names = fmt::format("{}", fmt::join(option.names, ", "));
    std::string words = in_one_line(option.full_help);
    if (option.is_required) words += " (required)";
    if (!option.values.empty()) words += fmt::format("\none of: {}", fmt::join(option.values, ", "));
    page.entry(names, option.takes_value ? option.value_name : "", words);
  }
}

/// "NAME [COUNT] [OPTION]..."
std::string places_of(const CommandWord& word) {
  std::string out;
  for (const OptionWord& place : word.positionals) {
    const std::string& name = place.names.front();
    out += place.is_required ? name + " " : "[" + name + "] ";
  }
  return out + "[OPTION]...";
}

void put_command(ManText& page, const std::string& path, const CommandWord& word) {
  page.synopsis(path, word.children.empty() ? places_of(word) : "COMMAND [OPTION]...");
  page.paragraph(word.help + ".");
  for (const OptionWord& place : word.positionals) {
    page.entry(place.names.front(), "", in_one_line(place.full_help));
  }
  put_options(page, word.options);
  page.paragraph(word.footer);
}

void put_all_commands(ManText& page, const std::string& path, const CommandWord& word) {
  for (const CommandWord& child : word.children) {
    const std::string name = path + " " + child.name;
    page.subsection(name);
    put_command(page, name, child);
    put_all_commands(page, name, child);
  }
}

ManPage command_page(const CommandWord& word, const std::string& version) {
  const std::string name = "rota-" + word.name;
  ManText page(name, 1, word.help, version);
  page.section("SYNOPSIS");
  put_command(page, "rota " + word.name, word);
  if (!word.children.empty()) {
    page.section("COMMANDS");
    put_all_commands(page, "rota " + word.name, word);
  }
  page.section("SEE ALSO");
  page.paragraph("`rota`(1) has the options that every command takes, and the exit statuses.");
  return {name + ".1", page.text()};
}

void put_environment(ManText& page) {
  page.section("ENVIRONMENT");
  page.entry("ROTA_CONTEXT", "", "as --context");
  for (const ContextSetting& setting : context_settings()) {
    page.entry(setting.environment, "", "as " + setting.option + ": " + setting.help);
  }
  page.entry("XDG_CONFIG_HOME, HOME", "", "where the contexts are, see `rota-config`(5)");
}

ManPage main_page(const CommandWord& root, const std::string& version) {
  ManText page("rota", 1, "submit and watch jobs of a Rota cluster", version);
  page.section("SYNOPSIS");
  page.synopsis("rota", "[OPTION]... COMMAND [ARGUMENT]...");
  page.section("COMMANDS");
  for (const CommandWord& child : root.children) {
    page.entry(child.name, "", child.help + "; `rota-" + child.name + "`(1)");
  }
  page.section("OPTIONS");
  page.paragraph("Every command takes these, before or after its own.");
  put_options(page, root.options);
  page.section("WHICH CLUSTER");
  page.paragraph(
      "What an option says is used; else what the environment says; else what the context says; else what is "
      "built in. `rota context show` tells what is used, and who says so. Questions before something is "
      "destroyed name the cluster.");
  page.section("OUTPUT");
  page.paragraph(
      "A table for people, or data for programs: `-o table|wide|json|yaml|csv`. Every list can be filtered "
      "by --where, and watched by --watch: on a terminal it is drawn over and over, else it is printed when "
      "it has changed, JSON as one document a line. Nothing is coloured. A reader that goes away is no "
      "error.");
  page.section("EXIT STATUS");
  for (const ExitMeaning& one : kExitMeanings) page.entry(std::to_string(one.status), "", one.meaning);
  put_environment(page);
  page.section("SEE ALSO");
  page.paragraph("`rota-job`(5), `rota-config`(5), `rota-master`(8), `rota-worker`(8)");
  return {"rota.1", page.text()};
}

/// The cells of a line of a table in Markdown.
std::vector<std::string> cells_in(const std::string& line) {
  std::vector<std::string> cells(1);
  for (std::size_t at = 2; at < line.size(); ++at) {
    if (line.compare(at, 3, " | ") == 0) {
      cells.emplace_back();
      at += 2;
    } else if (line[at] == '\\' && at + 1 < line.size() && line[at + 1] == '|') {
      cells.back() += line[++at];
    } else {
      cells.back() += line[at];
    }
  }
  std::string& last = cells.back();
  if (last.ends_with(" |")) last.resize(last.size() - 2);
  return cells;
}

std::string without_ticks(std::string text) {
  std::erase(text, '`');
  return text;
}

ManPage job_file_page(const std::string& version) {
  ManText page("rota-job", 5, "a job file: jobs of Rota as YAML", version);
  page.section("DESCRIPTION");
  page.paragraph(
      "One job, or several under `jobs:`. `rota apply -f FILE` shows what a file would change, asks, and "
      "applies it. `rota job schema` prints a JSON Schema for editors.");
  page.lines("name: hello\nschedule: \"*/5 * * * *\"\ntime_zone: Europe/Berlin\n"
             "command: [/bin/echo, hello]\n");
  page.section("KEYS");
  const std::string table = job_key_table();
  std::size_t at = 0;
  for (int line_number = 0; at < table.size(); ++line_number) {
    const std::size_t end = std::min(table.find('\n', at), table.size());
    const std::vector<std::string> cells = cells_in(table.substr(at, end - at));
    at = end + 1;
    if (line_number < 2 || cells.size() < 4) continue;
    const std::string words = cells[1] + "\nvalue: " + cells[2] + "\nwhen left out: " + cells[3];
    page.entry(without_ticks(cells[0]), "", words);
  }
  page.section("SEE ALSO");
  page.paragraph("`rota-job`(1), `rota-apply`(1)");
  return {"rota-job.5", page.text()};
}

ManPage context_page(const std::string& version) {
  ManText page("rota-config", 5, "contexts: named clusters of a person", version);
  page.section("DESCRIPTION");
  page.paragraph(
      "$XDG_CONFIG_HOME/rota/config.yaml, else ~/.config/rota/config.yaml, with mode 0600. "
      "`rota context set` and `rota context use` write it; it may also be written by hand.");
  page.lines("current: prod\ncontexts:\n  prod: {zookeeper: \"zk1:2181,zk2:2181\", namespace: finance}\n"
             "  test: {masters: \"127.0.0.1:7400\"}\n");
  page.section("KEYS");
  page.entry("current", "", "the context that is used when neither --context nor ROTA_CONTEXT names one");
  page.entry("contexts", "", "the contexts by their names; each may say:");
  for (const ContextSetting& setting : context_settings()) {
    page.entry("contexts.NAME." + setting.name, "", setting.help + "\nstronger: " + setting.option + ", " +
                                                        setting.environment);
  }
  page.section("SEE ALSO");
  page.paragraph("`rota-context`(1)");
  return {"rota-config.5", page.text()};
}

ManPage settings_page(const std::string& program, const std::vector<config::Setting>& settings,
                      const std::string& version) {
  const std::string name = program + ".yaml";
  ManText page(name, 5, "the settings of " + program, version);
  page.section("DESCRIPTION");
  page.paragraph("Given by `--config FILE`. A dot in a key stands for a map within a map. The environment is "
                 "stronger than the file. `--check-config` names every problem of a file with its line, "
                 "value and remedy; `--print-default-config` prints all settings.");
  page.section("SETTINGS");
  for (const config::Setting& setting : settings) {
    std::string words = setting.comment;
    if (const std::string allowed = setting.allowed(); !allowed.empty()) words += "\nvalue: " + allowed;
    words += "\ndefault: " + setting.value_text() + "\nenvironment: " + setting.environment_name();
    if (setting.reloads) words += "\nread again on SIGHUP";
    page.entry(setting.key, "", words);
  }
  page.section("SEE ALSO");
  page.paragraph("`" + program + "`(8)");
  return {name + ".5", page.text()};
}

ManPage program_page(const std::string& program, const std::string& help, const std::string& version) {
  const std::string first = help.substr(0, help.find('\n'));  // "rota-master: decides which ..."
  const auto colon = first.find(": ");
  ManText page(program, 8, colon == std::string::npos ? first : first.substr(colon + 2), version);
  page.section("SYNOPSIS");
  page.synopsis(program, "--config FILE [OPTION]...");
  page.section("OPTIONS");
  for (const HelpOption& option : options_of_help(help)) page.entry(option.names, "", option.help);
  page.section("SIGNALS");
  page.entry("SIGTERM", "", "stops it cleanly; a worker lets its attempts end first");
  page.entry("SIGHUP", "", "reads again what may change while it runs");
  page.section("EXIT STATUS");
  page.entry("0", "", "it was stopped, or did what was asked for");
  page.entry("1", "", "it failed; a watchdog starts it again");
  page.entry("2", "", "its configuration is wrong; starting it again does not help");
  page.section("SEE ALSO");
  page.paragraph("`" + program + ".yaml`(5), `rota`(1)");
  return {program + ".8", page.text()};
}

}  // namespace

std::vector<HelpOption> options_of_help(const std::string& help) {
  std::vector<HelpOption> out;
  for (std::size_t at = 0; at < help.size();) {
    const std::size_t end = std::min(help.find('\n', at), help.size());
    const std::string line = help.substr(at, end - at);
    at = end + 1;
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string::npos || begin < 2) continue;
    if (begin == 2) {
      const std::size_t gap = line.find("  ", begin);
      const std::size_t words = gap == std::string::npos ? gap : line.find_first_not_of(' ', gap);
      out.push_back({line.substr(begin, gap == std::string::npos ? gap : gap - begin),
                     words == std::string::npos ? "" : line.substr(words)});
    } else if (!out.empty()) {
      out.back().help += (out.back().help.empty() ? "" : " ") + line.substr(begin);
    }
  }
  return out;
}

std::vector<ManPage> man_pages(const CommandWord& root, const HelpTexts& helps, const std::string& version) {
  std::vector<ManPage> out = {main_page(root, version)};
  for (const CommandWord& child : root.children) out.push_back(command_page(child, version));
  out.push_back(job_file_page(version));
  out.push_back(context_page(version));
  config::MasterOptions master;
  config::WorkerOptions worker;
  for (const auto& [program, help] : helps) {
    out.push_back(program_page(program, help, version));
    if (program == "rota-master") out.push_back(settings_page(program, config::settings_of(master), version));
    if (program == "rota-worker") out.push_back(settings_page(program, config::settings_of(worker), version));
  }
  return out;
}

}  // namespace rota::client
