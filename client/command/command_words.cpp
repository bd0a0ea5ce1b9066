#include "client/command/command_words.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/command/man_pages.h"
#include "common/base/file.h"
#include "common/base/utf8.h"

namespace rota::client {
namespace {

constexpr std::int32_t kNamesMost = 50;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Place place_named(const std::string& name) {
  if (name == "--job") return Place::Job;
  if (name == "--context" || name == "context") return Place::ContextName;
  if (name == "--worker" || name == "--lives" || name == "worker") return Place::Worker;
  if (name == "setting") return Place::Setting;
  return name == "run" ? Place::Run : Place::None;
}

/// TEXT, INT and the like in man pages; a positional has its own name.
std::string value_name_of(const CLI::Option& option) {
  if (option.get_positional()) return option.get_name(true);
  std::string type = option.get_type_name();
  const auto limits = type.find(':');
  return limits == std::string::npos ? type : type.substr(0, limits);
}

/// Of an option that takes one of some words: "TEXT:{table,json}".
std::vector<std::string> values_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto from = type.find('{'), to = type.find('}');
  if (from == std::string::npos || to == std::string::npos) return {};
  return CLI::detail::split(type.substr(from + 1, to - from - 1), ',');
}

OptionWord option_word(const CLI::Option& option) {
  OptionWord word;
  for (const std::string& name : option.get_lnames()) word.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) word.names.push_back("-" + name);
  word.help = first_line(option.get_description());
  word.full_help = option.get_description();
  word.takes_value = option.get_items_expected_max() > 0;
  word.is_required = option.get_required();
  if (word.takes_value) word.value_name = value_name_of(option);
  if (word.names.empty()) {
    word.names.push_back(option.get_name(true));
    return word;
  }
  word.place = place_named(word.names.front());
  word.values = values_of(option);
  return word;
}

/// A positional called "name" under `rota job` is a job; deleted jobs cannot be listed.
Place place_of(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    const std::string name = option->get_name(true);
    const bool is_of_job = app.get_parent() != nullptr && app.get_parent()->get_name() == "job" &&
                           app.get_name() != "undelete";
    if (is_of_job && (name == "name" || name == "prefix")) return Place::Job;
    if (const Place place = place_named(name); place != Place::None) return place;
  }
  return Place::None;
}

void print(const std::string& word, const std::string& help, const std::string& begun) {
  if (word.rfind(begun, 0) == 0) print_text(fmt::format("{}\t{}\n", printable(word), printable(help)));
}

void print_names(Desk& desk, Place place, const std::string& begun) {
  if (place == Place::ContextName) {
    const auto file = stored_contexts();
    if (!file) return;
    for (const auto& [name, context] : file->contexts) print(name, pairs_text(context), begun);
  } else if (place == Place::Job) {
    const auto jobs = desk.cluster.list_jobs(desk.space, begun, kNamesMost);
    if (!jobs) return;
    for (const auto& job : *jobs) print(job.definition.name, job.definition.description, begun);
  } else if (place == Place::Worker) {
    const auto workers = desk.cluster.list_workers();
    if (!workers) return;
    for (const auto& worker : *workers) print(worker.key.id, worker.state, begun);
  } else if (place == Place::Setting) {
    const auto settings = desk.cluster.list_settings({});
    if (!settings) return;
    for (const auto& info : *settings) print(info.name, info.text + ", " + info.meaning, begun);
  } else if (place == Place::Run) {
    thrift::RunFilter filter;
    filter.space = desk.space;
    filter.limit = kNamesMost;
    const auto runs = desk.cluster.list_runs(filter);
    if (!runs) return;
    for (const auto& run : *runs) print(std::to_string(run.id), run.job_name + " " + run.state, begun);
  }
}

}  // namespace

CommandWord command_words(const CLI::App& app) {
  CommandWord word;
  word.name = app.get_name();
  word.help = first_line(app.get_description());
  word.place = place_of(app);
  const CLI::App* parent = app.get_parent();  // whose footer is inherited
  if (parent == nullptr || parent->get_footer() != app.get_footer()) word.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    (option->get_positional() ? word.positionals : word.options).push_back(option_word(*option));
  }
  word.is_list = app.get_option_no_throw("--where") != nullptr;
  word.is_watchable = app.get_option_no_throw("--watch") != nullptr;
  for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!child->get_group().empty()) word.children.push_back(command_words(*child));
  }
  return word;
}

namespace {

nlohmann::json option_json(const OptionWord& option) {
  return {{"names", option.names}, {"help", option.full_help}, {"takes_value", option.takes_value},
          {"value_name", option.value_name}, {"values", option.values}, {"is_required", option.is_required}};
}

void add_commands(nlohmann::json& out, const std::string& path, const CommandWord& word) {
  nlohmann::json one = {{"command", path}, {"help", word.help}, {"is_list", word.is_list},
                        {"is_watchable", word.is_watchable}, {"has_children", !word.children.empty()}};
  one["options"] = one["positionals"] = nlohmann::json::array();
  for (const OptionWord& option : word.options) one["options"].push_back(option_json(option));
  for (const OptionWord& option : word.positionals) one["positionals"].push_back(option_json(option));
  out.push_back(std::move(one));
  for (const CommandWord& child : word.children) add_commands(out, path + " " + child.name, child);
}

}  // namespace

int print_command_table(const CommandWord& root) {
  nlohmann::json out = nlohmann::json::array();
  add_commands(out, "rota", root);
  print_data(Format::Json, out);
  return kOk;
}

int write_man_pages(const CommandWord& root, const std::string& folder,
                    const std::vector<std::string>& helps) {
  HelpTexts texts;
  for (const std::string& help : helps) {
    const auto at = help.find('=');
    if (at == std::string::npos) {
      const std::string what = "--man takes PROGRAM=FILE, not " + quoted_text(help);
      return complain(Error(ErrorCode::InvalidArgument, what));
    }
    auto text = read_file(help.substr(at + 1));
    if (!text) return complain(text.error());
    texts[help.substr(0, at)] = std::move(*text);
  }
  if (auto made = make_folders(folder); !made) return complain(made.error());
  for (const ManPage& page : man_pages(root, texts, ROTA_VERSION)) {
    const auto written = replace_file(folder + "/" + page.file, page.text, 0644);
    if (!written) return complain(written.error());
  }
  return kOk;
}

int print_completions(Desk& desk, const CommandWord& root, const std::vector<std::string>& words) {
  const Completions found = complete(root, words);
  const std::string begun = words.empty() ? "" : words.back();
  for (const Completion& each : found.words) print_text(fmt::format("{}\t{}\n", each.word, each.help));
  print_names(desk, found.place, begun);
  return kOk;
}

}  // namespace rota::client
