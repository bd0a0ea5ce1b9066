#include "client/command/command_words.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace rota::client {
namespace {

constexpr std::int32_t kNamesMost = 50;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

Place place_named(const std::string& name) {
  if (name == "--job") return Place::Job;
  if (name == "--worker" || name == "--lives" || name == "worker") return Place::Worker;
  return name == "run" ? Place::Run : Place::None;
}

OptionWord option_word(const CLI::Option& option) {
  OptionWord word;
  for (const std::string& name : option.get_lnames()) word.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) word.names.push_back("-" + name);
  word.help = first_line(option.get_description());
  word.takes_value = option.get_items_expected_max() > 0;
  if (word.names.empty()) return word;
  word.place = place_named(word.names.front());
  if (word.names.front() == "--output") word.values = {"table", "json", "yaml", "csv"};
  if (word.names.front() == "--state") {
    word.values = {"waiting", "queued", "dispatched", "running", "succeeded", "failed",
                   "timed_out", "killed", "kill_failed", "cancelled", "lost", "skipped"};
  }
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
  if (place == Place::Job) {
    const auto jobs = desk.cluster.list_jobs(desk.space, begun, kNamesMost);
    if (!jobs) return;
    for (const auto& job : *jobs) print(job.definition.name, job.definition.description, begun);
  } else if (place == Place::Worker) {
    const auto workers = desk.cluster.list_workers();
    if (!workers) return;
    for (const auto& worker : *workers) print(worker.key.id, worker.state, begun);
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
  for (const CLI::Option* option : app.get_options()) {
    OptionWord one = option_word(*option);
    if (!one.names.empty() && !option->get_group().empty()) word.options.push_back(std::move(one));
  }
  for (const CLI::App* child : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!child->get_group().empty()) word.children.push_back(command_words(*child));
  }
  return word;
}

int print_completions(Desk& desk, const CommandWord& root, const std::vector<std::string>& words) {
  const Completions found = complete(root, words);
  const std::string begun = words.empty() ? "" : words.back();
  for (const Completion& each : found.words) print_text(fmt::format("{}\t{}\n", each.word, each.help));
  print_names(desk, found.place, begun);
  return kOk;
}

}  // namespace rota::client
