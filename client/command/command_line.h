// What the command line of `rota` can say, and how a command is added to it. main.cpp and job_commands.cpp
// put it together; commands.h has what the commands do.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

#include "client/command/commands.h"

namespace rota::client {

/// Everything that the command line can set.
struct CommandLine {
  ClusterOptions cluster;
  std::string deadline = "10s";
  VerifyWords verify;
  std::string format = "table";
  std::string space = "default";
  std::function<int(Desk&)> command;
  bool watch = false;
  bool yes = false;
  bool as_table = false;
  bool all = false;

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
  SemaphoreArguments semaphore;
  AttentionArguments attention;
  QuotaArguments quota;
  CLI::Option* space_given = nullptr;
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
/// `apply` with its options.
CLI::App* add_apply(CLI::App& parent, CommandLine& line, const char* help);

/// `rota job` and `rota run` with all that is below them.
void add_job(CLI::App& app, CommandLine& line);
void add_run(CLI::App& app, CommandLine& line);

}  // namespace rota::client
