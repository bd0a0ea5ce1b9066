// Turns the command line's tables into the words that a shell completes.
#pragma once

#include "client/command/commands.h"
#include "client/command/completion.h"

namespace CLI {
class App;
}

namespace rota::client {

/// The command with its options and subcommands. Hidden ones are left out.
CommandWord command_words(const CLI::App& app);

/// Prints all commands with their options and forms as JSON (`rota --describe`), for tests. Returns 0.
int print_command_table(const CommandWord& root);
/// Writes all man pages into a folder (`rota --man FOLDER [PROGRAM=FILE...]`); the files hold what these
/// programs print for --help. An exit status.
int write_man_pages(const CommandWord& root, const std::string& folder,
                    const std::vector<std::string>& helps);
/// Prints what may come next: one word a line, followed by a tab and its help. Asks the cluster for names
/// of jobs, runs and workers; prints none when it does not answer. Returns 0.
int print_completions(Desk& desk, const CommandWord& root, const std::vector<std::string>& words);

}  // namespace rota::client
