// What the command line of `rota` can say, and how a command is added to it. main.cpp and job_commands.cpp
// put it together; commands.h has what the commands do.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "client/command/commands.h"

namespace rota::client {

/// Everything that the command line can set.
struct CommandLine {
  /// What the options say of the cluster and namespace, by setting; `given`: those that stand on the line.
  SaidSettings said;
  std::map<std::string, CLI::Option*> given;
  ClusterOptions cluster;
  Target target;
  std::string deadline = "10s";
  VerifyWords verify;
  std::string format = "table";
  std::function<int(Desk&)> command;
  bool is_local = false;                 ///< the command asks no master, and needs no context
  bool watch = false;
  std::string interval = "2s";
  std::vector<std::string> where;
  bool yes = false;
  bool as_table = false;
  bool all = false;
  bool history = false;

  SubmitArguments submit;
  ApplyArguments apply;
  PreviewArguments preview;
  ImportArguments import;
  RunNowArguments run_now;
  BulkArguments bulk;
  RunListArguments run_list;
  LogsArguments logs;
  WaitArguments wait;
  DrainArguments drain;
  FreezeArguments freeze;
  NotifyArguments notify;
  AutoscaleArguments autoscale;
  SemaphoreArguments semaphore;
  AttentionArguments attention;
  QuotaArguments quota;
  ContextArguments context;
  SettingArguments setting;
  PauseArguments pause;
  LockArguments lock;
  std::string name, why, line, time_zone, after, since, at;
  int limit = 100;
  int count = 5;
};

using Command = std::function<int(Desk&)>;

/// A command of `parent`, which `line` then selects.
CLI::App* add(CLI::App& parent, CommandLine& line, const std::string& name, const std::string& help,
              Command command);
/// The command shows something that a person may want to see again and again.
CLI::App* watchable(CLI::App* app, CommandLine& line);
/// The command prints a list, by a Listing: it can be watched, and its rows can be chosen by --where.
CLI::App* listing(CLI::App* app, CommandLine& line);
/// An option that is short for --where: its values are alternatives, and `*` stands for any text.
CLI::Option* where_option(CLI::App* list, CommandLine& line, const std::string& name, const std::string& key,
                          const std::string& help);
/// Options that every command has. `fall_through` lets them stand after the command too.
void add_common(CLI::App& app, CommandLine& line);
void fall_through(CLI::App& app);
/// Runs the selected command. An exit status.
int perform(CommandLine& line);
/// Answers a completion script (`rota --complete WORD...`).
int complete_words(const CLI::App& app, CommandLine& line, const std::vector<std::string>& words);
/// `apply` with its options.
CLI::App* add_apply(CLI::App& parent, CommandLine& line, const char* help);

/// `rota context` with all that is below it.
void add_context(CLI::App& app, CommandLine& line);
/// `rota job`, `rota run` and `rota setting` with all that is below them.
void add_job(CLI::App& app, CommandLine& line);
void add_run(CLI::App& app, CommandLine& line);
void add_setting(CLI::App& app, CommandLine& line);

}  // namespace rota::client
